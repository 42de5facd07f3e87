import { expect, test } from 'vitest'
import type { AnswerEntry } from './entries'
import { type Item, Pieces, rowKey, rowOf, textOf } from './pieces'

const answer = (text: string, more: Partial<AnswerEntry> = {}): AnswerEntry => ({
  type: 'answer',
  key: 'a1',
  text,
  thinking: '',
  textFrom: 0,
  thinkingFrom: 0,
  streaming: false,
  ...more,
})

const fence = '```'
const paragraph = (n: number) => `Paragraph ${n}. ${'word '.repeat(100)}\n\n`
const paragraphs = (n: number) => Array.from({ length: n }, (_, at) => paragraph(at)).join('')

const cut = (row: AnswerEntry, pieces = new Pieces()) => pieces.of([row])
const texts = (items: readonly Item[]) =>
  items.map((item) => (item.type === 'piece' ? textOf(item) : 'whole'))
const keys = (items: readonly Item[]) => items.map(({ key }) => key)

test('a long answer is drawn in pieces of whole blocks, others as they are', () => {
  const [short, long] = [answer('Short.', { key: 'a0' }), answer(paragraphs(20))]
  const items = new Pieces().of([short, long])
  expect(items[0]).toBe(short)
  expect(items.length).toBeGreaterThan(4)
  expect(texts(items.slice(1)).join('')).toBe(long.text)
  for (const text of texts(items.slice(1))) {
    expect(text).toMatch(/^Paragraph/)
    expect(text.length).toBeLessThan(4000)
  }
  expect(items[1]!.key).toBe('a1')
  expect(new Set(keys(items)).size).toBe(items.length)
  expect(items.slice(1).map(({ key }) => rowKey(key))).toEqual(items.slice(1).map(() => 'a1'))
  expect(items.map(rowOf)).toEqual([short, ...items.slice(1).map(() => long)])
})

test('rows without a long answer are drawn as they are', () => {
  const rows = [answer('Short.')]
  expect(new Pieces().of(rows)).toBe(rows)
})

test.each([
  ['code', '```go\n' + 'a line\n\n'.repeat(900) + '```\n'],
  ['code with a mark inside', '````md\n```\n' + 'a line\n\n'.repeat(900) + '````\n'],
  ['a list', '- an item\n\n  and more of it\n\n'.repeat(200)],
  ['a numbered list', '1. an item\n\n'.repeat(300)],
  ['a quotation', '> said\n\n'.repeat(500)],
  ['a paragraph', 'a line of it\n'.repeat(400)],
  ['indented code', '    code\n\n'.repeat(400)],
])('%s is not cut', (_, text) => {
  expect(texts(cut(answer(text)))).toEqual([text])
})

test('after inline code that looks like a fence, the text is cut', () => {
  expect(cut(answer('```x``` is code\n\n' + paragraphs(10))).length).toBeGreaterThan(1)
})

test.each([
  ['- ', '  '],
  ['1. ', '   '],
  ['10. ', '    '],
])('after code in an item with the mark "%s", other code is not cut', (mark, indent) => {
  const listed = `${mark}${fence}go\n${indent}code\n${indent}${fence}\n\nText.\n\n`
  const code = `${fence}\n${'a line\n\n'.repeat(900)}${fence}\n`
  expect(texts(cut(answer(listed + code)))).toEqual([listed + code])
  expect(cut(answer(listed + paragraphs(10))).length).toBeGreaterThan(1)
})

test('while a text grows, its pieces stay, and they are those of the complete text', () => {
  const text = paragraphs(30)
  const pieces = new Pieces()
  let last: readonly Item[] = []
  for (let end = 0; end <= text.length; end += 97) {
    const items = cut(answer(text.slice(0, end), { streaming: true }), pieces)
    expect(keys(items).slice(0, last.length)).toEqual(keys(last))
    expect(texts(items).slice(0, last.length - 1)).toEqual(texts(last).slice(0, -1))
    last = items
  }
  const complete = cut(answer(text), pieces)
  expect(keys(last)).toEqual(keys(complete))
  expect(complete.at(-1)).toMatchObject({ to: Infinity })
})

test('what is no longer kept of a text that grows is left out in whole pieces, the others stay', () => {
  const text = paragraphs(30)
  const pieces = new Pieces()
  const all = texts(cut(answer(text, { streaming: true }), pieces))
  const textFrom = 5000
  const left = cut(answer(text.slice(textFrom), { textFrom, streaming: true }), pieces)
  expect(left[0]!.key).toBe('a1')
  expect(texts(left)).toEqual(all.slice(-left.length))
  expect(texts(left).join('').length).toBeGreaterThan(text.length - textFrom - 4000)

  // All but a part of the last piece.
  const late = text.length - 10
  const [rest, ...more] = cut(answer(text.slice(late), { textFrom: late, streaming: true }), pieces)
  expect(more).toEqual([])
  expect(rest).toMatchObject({ type: 'answer' })
})

test('another text with the same key is cut anew', () => {
  const pieces = new Pieces()
  cut(answer(paragraphs(20), { streaming: true }), pieces)
  const other = answer('```\n' + paragraphs(5), { streaming: true })
  expect(texts(cut(other, pieces))).toEqual([other.text])
})
