import { expect, test } from 'vitest'
import type { Entry } from './entries'
import { standing } from './rewound'

const prompt = (seq: number): Entry => ({ type: 'prompt', key: `e${seq}`, seq, text: `${seq}` })
const rewound = (seq: number, id: string): Entry => ({
  type: 'notice',
  notice: 'rewound',
  key: `e${seq}`,
  id,
})
const restored: Entry = { type: 'notice', notice: 'restored', key: 'e6', restored: { id: 'r' } }
const call = { ...prompt(5), key: 'ccall' }

const entries = [prompt(1), prompt(4), call, restored, rewound(8, 'a'), prompt(9), rewound(12, 'b')]
const keys = (of: readonly Entry[]) => of.map(({ key }) => key)

test('what was taken back is one line, and files that were restored stay in sight', () => {
  const span = { id: 'a', from: 3, to: 8 }
  expect(keys(standing(entries, [span], new Set()))).toEqual(['e1', 'e6', 'e8', 'e9'])
  expect(keys(standing(entries, [span], new Set(['a'])))).toEqual(
    keys(entries.filter(({ key }) => key !== 'e12')),
  )
})

test('a part within another one has no line of its own, and what came back has none', () => {
  const spans = [
    { id: 'a', from: 3, to: 8 },
    { id: 'b', from: 0, to: 12 },
  ]
  expect(keys(standing(entries, spans, new Set()))).toEqual(['e6', 'e12'])
  expect(keys(standing(entries, [], new Set()))).toEqual(['e1', 'e4', 'ccall', 'e6', 'e9'])
  const untouched = [prompt(1), prompt(4)]
  expect(standing(untouched, undefined, new Set())).toBe(untouched)
})
