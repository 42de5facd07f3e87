import { expect, test } from 'vitest'
import type { RateLimitReport } from '../types.gen'
import { isScarce, left, percentage, scarcest } from './allowance'

const now = new Date(2026, 10, 21, 12, 0, 0).getTime()
const soon = now + 90_000
const report: RateLimitReport = {
  provider: 'acme',
  limit: {
    requests: { limit: 500, remaining: 480 },
    tokens: { limit: 2_000_000, remaining: 150_000, reset_at: soon },
  },
}

// LLM-32: the limit that runs out first is shown, with a warning when little is left.
test('the scarcer of requests and tokens counts', () => {
  expect(scarcest(report, now)).toBeCloseTo(0.075)
  expect(scarcest({ provider: 'acme', limit: {} }, now)).toBeUndefined()
})

// LLM-32
test('an allowance is full again after its reset', () => {
  expect(left(report.limit.tokens!, soon - 1)).toBeCloseTo(0.075)
  expect(left(report.limit.tokens!, soon)).toBe(1)
  expect(scarcest(report, soon)).toBeCloseTo(0.96)
})

test.each([
  [1, 100, false],
  [0.1, 10, false],
  [0.0999, 9, true],
  [0.0001, 1, true],
  [0, 0, true],
])('a share of %d is written as %d %%', (share, written, scarce) => {
  expect(percentage(share)).toBe(written)
  expect(isScarce(share)).toBe(scarce)
})

test('implausible reports give a share between 0 and 1', () => {
  expect(left({ limit: 0, remaining: 0 }, now)).toBe(1)
  expect(left({ limit: 10, remaining: -3 }, now)).toBe(0)
  expect(left({ limit: 10, remaining: 30 }, now)).toBe(1)
})
