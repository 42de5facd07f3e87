import { expect, test } from 'vitest'
import type { ContextBreakdown } from '../types.gen'
import { slices } from './context'

const breakdown = (window: number, ...tokens: number[]): ContextBreakdown => ({
  provider: 'own',
  model: 'm',
  window,
  used: tokens.reduce((sum, n) => sum + n, 0),
  reserved: window / 5,
  parts: tokens.map((n, i) => ({ kind: i ? 'results' : 'system', tokens: n })),
})

test.each<[string, ContextBreakdown, string[]]>([
  [
    'with room',
    breakdown(1000, 100, 300),
    ['system 100 10', 'results 300 30', 'free 400 40', 'reserved 200 20'],
  ],
  [
    'that has grown into the reserved part',
    breakdown(1000, 100, 800),
    ['system 100 10', 'results 800 80', 'reserved 100 10'],
  ],
  ['that is too long', breakdown(1000, 500, 1500), ['system 500 25', 'results 1500 75']],
  ['in an unknown window', breakdown(0, 100, 300), ['system 100 25', 'results 300 75']],
])('a context %s', (_, given, want) => {
  const got = slices(given).map((s) => `${s.kind} ${s.tokens} ${Math.round(100 * s.share)}`)
  expect(got).toEqual(want)
})
