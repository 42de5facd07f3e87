import { beforeEach, expect, test } from 'vitest'
import { setLanguage } from '../i18n/i18n.svelte'
import { noUsage } from '../model/testing'
import type { RateLimitReport } from '../types.gen'
import { exactly, spending, spendingExact, unpriced } from './words'

beforeEach(() => setLanguage('en'))

test.each([
  [{ usd: 0 }, '$0.00', '$0.0000'],
  [{ usd: 0.37124 }, '$0.37', '$0.3712'],
  [{ usd: 0.0037 }, '<$0.01', '$0.0037'],
  [{ usd: 0.37, unknown: 1 }, '$0.37+', '$0.3700 · 1 request of unknown cost'],
  [{ usd: 0, unknown: 2 }, 'cost unknown', '2 requests of unknown cost'],
])('%o is written %s, exactly %s', (cost, short, exact) => {
  expect(spending(cost)).toBe(short)
  expect(spendingExact(cost)).toBe(exact)
})

test('an unknown part names its models', () => {
  const line = { requests: 3, usage: noUsage }
  const models = [
    { ...line, model: 'dear-1', cost: { usd: 1 } },
    { ...line, model: 'odd-1', cost: { usd: 0, unknown: 3 } },
    { ...line, model: 'odd-2', cost: { usd: 1, unknown: 1 } },
  ]
  expect(unpriced(models)).toBe('odd-1 (3), odd-2 (1)')
  expect(unpriced(models.slice(0, 2))).toBe('odd-1')
})

const now = new Date(2026, 10, 21, 12, 0, 0).getTime()
const soon = now + 90_000
const report: RateLimitReport = {
  provider: 'acme',
  limit: {
    requests: { limit: 500, remaining: 480 },
    tokens: { limit: 2_000_000, remaining: 150_000, reset_at: soon },
  },
}

// LLM-32
test('the exact numbers include the time of their reset', () => {
  expect(exactly(report, now, 'en')).toBe(
    '480 of 500 requests left\n150,000 of 2,000,000 tokens left, reset at 12:01:30 PM',
  )
  expect(exactly(report, soon, 'en')).toContain('2,000,000 of 2,000,000 tokens left')
  expect(exactly(report, now - 24 * 3_600_000, 'en')).toContain('reset at Nov 21, 12:01:30 PM')
})
