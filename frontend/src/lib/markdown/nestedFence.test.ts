import { expect, test } from 'vitest'
import { GrowingMarkdown, renderMarkdown } from './render'

const kinds = (text: string) =>
  renderMarkdown(text).map((block) =>
    block.kind === 'code' ? `${block.language}: ${block.code}` : 'prose',
  )

// B-F13
test.each<[string, string, string[]]>([
  [
    'a fence with a language',
    '```markdown\n# A\n```bash\nls\n```\nend\n```\nafter',
    ['markdown: # A\n```bash\nls\n```\nend', 'prose'],
  ],
  [
    'two of them',
    '```md\n```js\n1\n```\n```py\n2\n```\n```\nafter',
    ['md: ```js\n1\n```\n```py\n2\n```', 'prose'],
  ],
  ['tildes', '~~~markdown\n~~~sh\nls\n~~~\n~~~\nafter', ['markdown: ~~~sh\nls\n~~~', 'prose']],
  [
    'a longer fence inside',
    '```md\n````sh\n```\n````\n```\nafter',
    ['md: ````sh\n```\n````', 'prose'],
  ],
  ['MDX', '```mdx\n```jsx\n<A/>\n```\n```\nafter', ['mdx: ```jsx\n<A/>\n```', 'prose']],
  [
    'an indented fence',
    '```markdown\n  ```sh\n  ls\n  ```\n```\nafter',
    ['markdown: ```sh\n  ls\n  ```', 'prose'].map((it) => it.replace(': ```', ':   ```')),
  ],
  ['none inside', '```markdown\n# A\n```\nafter', ['markdown: # A', 'prose']],
  [
    'an outer fence that is longer',
    '````md\n```sh\nls\n```\n````\nafter',
    ['md: ```sh\nls\n```', 'prose'],
  ],
  [
    'another language, whose fences are its text',
    '```text\n```sh\nls\n```\nafter',
    ['text: ```sh\nls', 'prose'],
  ],
  [
    'one that has no pair, so that the first end counts',
    '```markdown\n```sh\n```\nafter',
    ['markdown: ```sh', 'prose'],
  ],
])('Markdown in a fence with %s', (_, text, want) => {
  expect(kinds(text)).toEqual(want)
})

test('inside a list and a quotation it is read the same way', () => {
  for (const at of ['- ', '> ']) {
    const rest = at === '- ' ? '  ' : '> '
    const lines = ['```markdown', '```sh', 'ls', '```', '```', 'after']
    const text = lines.map((line, i) => (i === 0 ? at : rest) + line).join('\n')
    const [block] = renderMarkdown(text)
    expect(block!.html.match(/<pre>/g), at).toHaveLength(1)
  }
})

test('a text that grows keeps the fence open until its own end, and ends with the same blocks', () => {
  const text = '```markdown\n# A\n```bash\nls\n```\nend\n```\n\nafter\n\nmore'
  const growing = new GrowingMarkdown()
  for (let end = 1; end <= text.length; end++) {
    const blocks = growing.update(text.slice(0, end))
    if (end > '```markdown\n# A\n```bash\n'.length && end < text.indexOf('\n\nafter'))
      expect(blocks, text.slice(0, end)).toHaveLength(1)
  }
  expect(growing.update(text).map(({ html }) => html)).toEqual(
    renderMarkdown(text).map(({ html }) => html),
  )
})
