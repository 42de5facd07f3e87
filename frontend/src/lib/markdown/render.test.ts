import { describe, expect, test } from 'vitest'
import { GrowingMarkdown, renderMarkdown } from './render'

const html = (text: string) =>
  renderMarkdown(text)
    .map((block) => block.html)
    .join('')

describe('markdown', () => {
  test.each([
    ['<img src=x onerror=alert(1)>', '<p dir="auto">&lt;img src=x onerror=alert(1)&gt;</p>\n'],
    ['[a](javascript:alert(1))', '<p dir="auto">[a](javascript:alert(1))</p>\n'],
    ['[a](file:///etc/passwd)', '<p dir="auto">[a](file:///etc/passwd)</p>\n'],
    [
      '![p](https://evil.example/?d=1)',
      '<p dir="auto"><a href="https://evil.example/?d=1">p</a></p>\n',
    ],
    ['![p](data:image/png;base64,xx)', '<p dir="auto">![p](data:image/png;base64,xx)</p>\n'],
    [
      '[a](https://evil.example/ "https://good.example/")',
      '<p dir="auto"><a href="https://evil.example/">a</a></p>\n',
    ],
    ['x\u202egnp', '<p dir="auto">x⟨U+202E⟩gnp</p>\n'],
  ])('%s', (given, want) => {
    expect(html(given)).toBe(want)
  })

  test('alignment needs no style attribute', () => {
    const table = html('| a | b |\n|---|--:|\n| 1 | 2 |')
    expect(table).toContain('<td class="to-right" dir="auto">2</td>')
    expect(table).not.toContain('style')
  })

  test.each([
    ['# שלום', '<h1 dir="auto">'],
    ['- مرحبا', '<ul dir="auto">'],
    ['1. مرحبا', '<ol dir="auto">'],
    ['> مرحبا', '<blockquote dir="auto">\n<p>'],
    ['- مرحبا\n\n- x', '<ul dir="auto">\n<li>\n<p>'],
    ['7. later', '<ol start="7" dir="auto">'],
    ['| مرحبا |\n|---|\n| x |', '<th dir="auto">'],
  ])('%s keeps its attributes', (given, want) => {
    expect(html(given)).toContain(want)
  })

  test('items of a task list have a checkbox, other brackets stay', () => {
    const list = html('- [ ] open\n- [x] done\n- [y] other\n- a [x] b')
    const items = document.createElement('div')
    items.innerHTML = list
    expect([...items.querySelectorAll('.task')].map((item) => item.textContent)).toEqual([
      '☐ open',
      '☑ done',
    ])
    const boxes = [...items.querySelectorAll('[role=checkbox][aria-disabled=true]')]
    expect(boxes.map((box) => [box.ariaLabel, box.ariaChecked])).toEqual([
      ['open', 'false'],
      ['done', 'true'],
    ])
    expect(list).toContain('<li>[y] other</li>')
    expect(list).toContain('<li>a [x] b</li>')
    expect(html('[x] no item')).toContain('[x] no item')
  })

  test('the name of a task is text, whatever it contains', () => {
    const item = document.createElement('div')
    item.innerHTML = html('- [x] "><img src=x onerror=alert(1)> \u202e')
    expect(item.querySelector('img, [onerror]')).toBeNull()
    expect(item.querySelector('[role=checkbox]')?.ariaLabel).toBe(
      '"><img src=x onerror=alert(1)> ⟨U+202E⟩',
    )
  })

  test('code is a block of its own that keeps its text for copying', () => {
    expect(renderMarkdown('```go\nfunc main() {}\n```')).toMatchObject([
      { kind: 'code', language: 'go', code: 'func main() {}' },
    ])
  })
})

describe('growing markdown', () => {
  const document = [
    '# Title',
    'A paragraph\nof two lines',
    '- one\n- two\n\n  still two\n- three',
    'Setext\n------',
    '> quoted\n> on',
    '| a | b |\n|---|---|\n| 1 | 2 |',
    '```ts\nconst a = 1\n\nconst b = 2\n```',
    '1. first\n2. second',
    '    indented code',
    'The end of it.',
  ].join('\n\n')

  test.each([1, 3, 7, 50])(
    'in steps of %i gives the same result as at once, at the same places',
    (step) => {
      const parser = new GrowingMarkdown()
      let blocks = parser.update('')
      for (let end = step; end < document.length + step; end += step) {
        blocks = parser.update(document.slice(0, end))
      }
      const plain = (all: ReturnType<typeof renderMarkdown>) =>
        all.map((block) => [block.at, block.kind === 'code' ? block.code : block.html])
      expect(plain(blocks)).toEqual(plain(renderMarkdown(document)))
    },
    30_000,
  )

  test('a finished block is not rendered again', () => {
    const parser = new GrowingMarkdown()
    const [first] = parser.update('One.\n\nTwo.\n\nThr')
    expect(parser.update('One.\n\nTwo.\n\nThree.\n\nFour')[0]).toBe(first)
  })

  test('when the beginning is left out, blocks keep their places and are not rendered again', () => {
    const parser = new GrowingMarkdown()
    const text = 'One.\n\nTwo.\n\nThree.\n\nFour.\n'
    const [, two, three] = parser.update(text)
    const at = (part: string) => text.indexOf(part)
    expect(parser.update(text.slice(at('Two')), at('Two')).slice(0, 2)).toStrictEqual([two, three])
    // In the middle of the second, which is then left out.
    const rest = parser.update(`${text.slice(at('o.'))}\nFive`, at('o.'))
    expect(rest[0]).toBe(three)
    expect(rest.map((block) => block.at)).toEqual([at('Three'), at('Four'), text.length + 1])
    // In the middle of the open one.
    const last = parser.update('ve', text.length + 3)
    expect(last).toMatchObject([{ at: text.length + 3, html: expect.stringContaining('ve') }])
  })

  test('a different text is rendered from the start', () => {
    const parser = new GrowingMarkdown()
    parser.update('One.\n\nTwo.\n\nThree')
    expect(parser.update('Other')).toHaveLength(1)
  })
})

describe('a text that is long when it is first seen', () => {
  const passage = (n: number) =>
    `## Part ${n}\n\nSome **words**.\n\n- one\n\n  more of it\n\n1. first\n\n~~~\n\`\`\`\n\nin a fence\n~~~\n\n\`\`\`go\nfunc f() {\n\n}\n\`\`\`\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quoted\n\n`
  const whole = Array.from({ length: 150 }, (_, n) => passage(n)).join('')
  const length = (blocks: readonly { at: number }[]) => whole.length - blocks[0]!.at

  /** All blocks of a text, rendered from its beginning as it grew. */
  function grown(text: string, from = 0) {
    const parser = new GrowingMarkdown()
    for (let end = 1; end < text.length; end += 3000) parser.update(text.slice(0, end), from)
    return parser.update(text, from)
  }

  test('begins with its end, and becomes what it would be from its beginning', () => {
    const parser = new GrowingMarkdown()
    let blocks = parser.update(whole)
    const all = grown(whole)
    expect(length(blocks)).toBeLessThan(5000)
    expect(blocks).toEqual(all.slice(-blocks.length))
    let pieces = 0
    for (; parser.isPartial; pieces++) {
      parser.earlier()
      const more = parser.update(whole)
      expect(length(more) - length(blocks)).toBeLessThan(3000)
      blocks = more
    }
    expect(blocks).toEqual(all)
    expect(pieces).toBeGreaterThan(5)
  })

  test('grows meanwhile, and loses its beginning', () => {
    const parser = new GrowingMarkdown()
    const half = whole.length / 2
    parser.update(whole.slice(0, half))
    for (let end = half; end < whole.length; end += 777) {
      if (parser.isPartial) parser.earlier()
      parser.update(whole.slice(0, end))
    }
    expect(parser.update(whole)).toEqual(grown(whole))

    const late = new GrowingMarkdown()
    late.update(whole)
    const from = whole.indexOf('## Part 100')
    late.update(whole.slice(from), from)
    while (late.isPartial) late.earlier()
    expect(late.update(whole.slice(from), from)).toEqual(grown(whole.slice(from), from))
  })

  test('without a place to cut it is rendered whole', () => {
    for (const text of [
      'word '.repeat(5000),
      `~~~\n${'code\n\n'.repeat(3000)}`,
      '- item\n\n'.repeat(2000),
    ]) {
      const parser = new GrowingMarkdown()
      parser.update(text)
      expect(parser.isPartial).toBe(false)
    }
  })
})

test('a growing text whose lines end with carriage returns is rendered as a whole', () => {
  const text = 'one\rtwo\r\rA paragraph.\n\nAnother one.\r\n\r\nx\ry\r\n\nThe end.\n\n'
  const growing = new GrowingMarkdown()
  for (let end = 1; end < text.length; end++) growing.update(text.slice(0, end))
  const all = growing.update(text).map((block) => block.html)
  expect(all.join('')).toBe(html(text))
})
