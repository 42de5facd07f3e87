import { expect, test } from 'vitest'
import type { TimeSpan } from '../types.gen'
import { waterfall } from './waterfall'

// COM-91: a turn's parts stand where they began, as long as they took; what is open lasts until now.
test('a waterfall has the newest turn first, and each part at its place', () => {
  const spans: TimeSpan[] = [
    { id: 1, kind: 'turn', start: 0, end: 1000 },
    { id: 2, parent: 1, kind: 'request', name: 'm', start: 0, end: 250 },
    { id: 3, parent: 1, kind: 'tool', name: 'Bash', start: 300, end: 900 },
    { id: 4, parent: 3, kind: 'wait', name: 'Bash', start: 300, end: 800 },
    { id: 5, kind: 'turn', start: 2000 },
    { id: 6, parent: 5, kind: 'tool', name: 'Read', start: 2500 },
  ]
  const [second, first] = waterfall(spans, 3000)
  expect(first).toMatchObject({ ms: 1000, waited: 500, asked: 250 })
  expect(first?.rows.map(({ name, depth, left, width }) => [name, depth, left, width])).toEqual([
    ['m', 0, 0, 25],
    ['Bash', 0, 30, 60],
    ['Bash', 1, 30, 50],
  ])
  expect(second).toMatchObject({ ms: 1000, rows: [{ left: 50, width: 50, ms: 500 }] })
})
