import { expect, test } from 'vitest'
import { noteTarget } from './footnotes'
import { GrowingMarkdown, renderMarkdown } from './render'

function shown(text: string): HTMLElement {
  const box = document.createElement('div')
  box.innerHTML = renderMarkdown(text)
    .map((block) => block.html)
    .join('')
  return box
}

const text = 'One[^a], two[^b] and one again[^a].\n\n[^b]: Second.\n[^a]: First **note**.\n'

test('footnotes are at the end, in the order of the text, and links lead there and back', () => {
  const box = shown(text)
  const links = [...box.querySelectorAll('.note-link')]
  expect(links.map((link) => [link.textContent, link.ariaLabel])).toEqual([
    ['1', 'Footnote 1'],
    ['2', 'Footnote 2'],
    ['1', 'Footnote 1'],
  ])
  const items = [...box.querySelectorAll('ol.notes > li')]
  expect(items.map((item) => item.textContent?.replace(/\s*↩.*/s, '').trim())).toEqual([
    'First note.',
    'Second.',
  ])
  expect(links.map((link) => noteTarget([box], link))).toEqual([items[0], items[1], items[0]])
  const backs = [...box.querySelectorAll('.note-back')]
  expect(backs.map((back) => noteTarget([box], back))).toEqual([links[0], links[2], links[1]])
})

test('they have no ids and no addresses, so that messages cannot collide', () => {
  const box = shown(text)
  expect(box.querySelector('[id], [name], [href], [for]')).toBeNull()
  expect(noteTarget([shown(text)], box.querySelector('.note-back')!)).toBeUndefined()
})

test('a footnote that nothing refers to is shown, without a way back', () => {
  const box = shown('Text.\n\n[^x]: Not used.')
  expect(box.querySelector('ol.notes')?.textContent).toContain('Not used.')
  expect(box.querySelector('.note-back')).toBeNull()
})

test.each([
  '[^a] has no definition',
  'the pattern ^[a-z]+ is text',
  '`[^a]` is code\n\n```\n[^a]: x\n```',
])('%j has none', (given) => {
  expect(shown(given).querySelector('.note-link, .notes')).toBeNull()
})

test.each([
  '[^a]\n\n[^a]: <img src=x onerror=alert(1)>',
  '[^<img src=x onerror=alert(1)>]\n\n[^<img]: x\n[^"onclick="alert(1)]: y',
  '[^a]\n\n[^a]: [x](javascript:alert(1))',
  '[^__proto__][^constructor]\n\n[^__proto__]: a\n[^constructor]: b',
  '[^a]\n\n[^a]: > [^b]: x\n    > y\n\n    - [^c]: z',
  '> [^a]: > - [^b]: [^a]\n[^b]',
  '[^a]'.repeat(300) + '\n\n[^a]: x',
  '[^a]: '.repeat(300) + 'x',
  '[^1]: '.repeat(1) + '> '.repeat(200) + '[^2]: x',
])('hostile footnotes show nothing but text: %#', (given) => {
  const box = shown(given)
  expect(box.querySelector('img, a, script, [onerror], [onclick]')).toBeNull()
  expect(box.textContent).not.toBe('')
})

test('a footnote is found in another part of its message', () => {
  const parts = renderMarkdown(text).map((block) => {
    const part = document.createElement('div')
    part.innerHTML = block.html
    return part
  })
  const links = parts.flatMap((part) => [...part.querySelectorAll('.note-link')])
  const found = links.map((link) => noteTarget(parts, link)?.textContent)
  expect(found).toEqual([
    expect.stringContaining('First'),
    expect.stringContaining('Second'),
    expect.stringContaining('First'),
  ])
})

test('while a text grows, its footnotes stay as they are written', () => {
  const parser = new GrowingMarkdown()
  const growing = parser.update(text).map((block) => block.html).join('') // prettier-ignore
  expect(growing).toContain('One[^a]')
  expect(growing).toContain('[^b]: Second.')
  expect(shown(text).querySelectorAll('.note-link')).toHaveLength(3)
})
