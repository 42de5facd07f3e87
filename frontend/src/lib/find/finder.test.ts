import { expect, test } from 'vitest'
import type { FindReply, Hit } from '../types.gen'
import { Finder } from './finder.svelte'
import { placeOf } from './places'

const hit = (seq: number, more: Partial<Hit> = {}): Hit => ({
  seq,
  kind: 'user_input',
  part: 'message',
  snippet: String(seq),
  ...more,
})

/** A finder over a log with the given hits, of which one call returns two. */
function finderOf(seqs: readonly number[]) {
  const asked: [string, number][] = []
  const finder = new Finder(async (text, before): Promise<FindReply> => {
    asked.push([text, before])
    const rest = seqs.filter((seq) => !before || seq < before).toReversed()
    const hits = rest.slice(0, 2).map((seq) => hit(seq))
    return { hits, next: rest.length > 2 ? hits.at(-1)!.seq : 0 }
  })
  return { finder, asked }
}

test('the whole log is searched, and the newest hit is the first one shown', async () => {
  const { finder, asked } = finderOf([3, 5, 8, 9, 12])
  await finder.find('x')
  expect(finder.hits.map(({ seq }) => seq)).toEqual([3, 5, 8, 9, 12])
  expect(asked).toEqual([
    ['x', 0],
    ['x', 9],
    ['x', 5],
  ])
  expect([finder.at, finder.current?.seq, finder.searching, finder.more]).toEqual([
    4,
    12,
    false,
    false,
  ])
})

test('the next of the newest hit is the oldest one', async () => {
  const { finder } = finderOf([3, 5, 8])
  await finder.find('x')
  finder.step(1)
  expect(finder.current?.seq).toBe(3)
  finder.step(1)
  expect(finder.current?.seq).toBe(5)
  finder.step(-1)
  finder.step(-1)
  expect(finder.current?.seq).toBe(8)
})

test('a newer search ends an older one', async () => {
  const answers: ((reply: FindReply) => void)[] = []
  const finder = new Finder(() => new Promise((resolve) => answers.push(resolve)))
  const old = finder.find('ol')
  const now = finder.find('old')
  answers[1]!({ hits: [hit(2)] })
  answers[0]!({ hits: [hit(1)], next: 1 })
  await Promise.all([old, now])
  expect(finder.hits.map(({ seq }) => seq)).toEqual([2])
  expect(answers).toHaveLength(2)
})

test('a search stops at a number of hits and says that there may be more', async () => {
  const finder = new Finder(async (_text, before) => ({
    hits: Array.from({ length: 500 }, (_, n) => hit((before || 1e6) - n - 1)),
    next: (before || 1e6) - 500,
  }))
  await finder.find('e')
  expect([finder.hits.length, finder.more, finder.searching]).toEqual([2000, true, false])
})

test.each([
  ['what was printed comes last in its row', hit(1, { part: 'output', nth: 1 }), 2, 5, 4],
  ['what was called comes first', hit(1, { part: 'input', nth: 0 }), 1, 5, 0],
  ['a hit that is not drawn is the nearest one', hit(1, { part: 'output', nth: 7 }), 8, 2, 1],
  ['nothing is drawn', hit(1), 1, 0, 0],
])('%s', (_name, of, same, drawn, want) => {
  const hits = Array.from({ length: same }, (_, nth) => hit(1, { part: of.part, nth }))
  expect(placeOf(of, hits, drawn)).toBe(want)
})

test.each([
  ['what was typed comes before the prompt that was made of it', 'message', 3, 0],
  ['that prompt comes after it', 'prompt', 3, 1],
  ['a prompt that is folded is not counted', 'message', 1, 0],
] as const)('%s', (_name, part, drawn, want) => {
  const hits = [hit(1), hit(1, { part: 'prompt' }), hit(1, { part: 'prompt', nth: 1 })]
  expect(placeOf(hit(1, { part }), hits, drawn)).toBe(want)
})

test('places that were taken back are counted over all parts, and again for another text', async () => {
  const replies: FindReply[] = [{ next: 5, taken_back: 2 }, { taken_back: 1 }, {}]
  const finder = new Finder(async () => replies.shift())
  await finder.find('x')
  expect(finder.takenBack).toBe(3)
  await finder.find('y')
  expect(finder.takenBack).toBe(0)
})
