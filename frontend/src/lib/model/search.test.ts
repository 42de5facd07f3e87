import { expect, test } from 'vitest'
import type { SearchHit } from '../types.gen'
import {
  countHits,
  nameOf,
  piecesOf,
  placesIn,
  toldHyphens,
  withFilter,
  withMore,
  withoutFilter,
} from './search'

const hit = (more: Partial<SearchHit> = {}): SearchHit => ({
  seq: 4,
  at: 1,
  kind: 'assistant_text_end',
  part: 'message',
  snippet: 'a 😀 needle',
  ...more,
})

test('a snippet is cut at its marks, counted as JavaScript does', () => {
  expect(piecesOf(hit({ marks: [{ from: 5, to: 11 }] }))).toEqual([
    { text: 'a 😀 ', marked: false },
    { text: 'needle', marked: true },
  ])
  expect(piecesOf(hit())).toEqual([{ text: 'a 😀 needle', marked: false }])
})

test.each([
  ['title', { kind: 'title' }],
  ['answer', {}],
  ['thinking', { part: 'thinking' }],
  ['prompt', { kind: 'user_input' }],
  ['prompt', { kind: 'user_input', part: 'prompt' }],
  ['summary', { kind: 'compaction_end' }],
  ['input', { kind: 'tool_call_start', part: 'input', tool: 'Bash' }],
  ['output', { kind: 'tool_call_end', part: 'output', tool: 'Bash' }],
  ['command', { kind: 'local_command_start', part: 'input' }],
  ['printed', { kind: 'local_command_end', part: 'output' }],
] as const)('a hit in a %s is named so', (name, more) => {
  expect(nameOf(hit(more))).toBe(name)
})

test('a jump goes to the first of the places of a hit', () => {
  expect(placesIn(hit({ places: 3, of: 'c' })).map(({ nth, of }) => [nth, of])).toEqual([
    [0, 'c'],
    [1, 'c'],
    [2, 'c'],
  ])
  expect(placesIn(hit())).toHaveLength(1)
})

test('more hits of a session are shown with those before', () => {
  const session = (id: string, hits: SearchHit[]) => ({
    session: id,
    title: id,
    folder: '/p',
    hits,
  })
  const all = withMore([session('a', [hit()])], {
    sessions: [session('b', [hit()]), { ...session('a', [hit({ seq: 2 })]), more: true }],
  })
  expect(all.map(({ session }) => session)).toEqual(['a', 'b'])
  expect(all[0]!.hits!.map(({ seq }) => seq)).toEqual([4, 2])
  expect(all[0]!.more).toBe(true)
  expect(countHits(all)).toBe(3)
})

test('filters are added and removed', () => {
  expect(withFilter('word ', 'tool')).toBe('word tool:')
  expect(withFilter('', 'tool')).toBe('tool:')
  expect(withoutFilter('a -file:"x y" $& b', '-file:"x y"')).toBe('a $& b')
})

test('what a hyphen excludes is said, and an option only if nothing has it', () => {
  const option = { word: 'rf', raw: '-rf', instead: '-"rf"' }
  const excluded = { word: 'x', raw: '-x', instead: '"-x"', excluded: true }
  const words = (text: string, hits: number) =>
    toldHyphens(text, [option, excluded], hits).map(({ word }) => word)
  expect(words('rm -rf -x', 0)).toEqual(['rf', 'x'])
  expect(words('rm -rf -x', 3)).toEqual(['x'])
  expect(words('rm -rf', 3)).toEqual([])
  expect(words('changed meanwhile', 0)).toEqual([])
  expect(toldHyphens('a', [{ word: 'x"', raw: '', excluded: true }], 0)).toEqual([])
})
