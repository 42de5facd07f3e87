import { expect, test } from 'vitest'
import { noUsage } from './testing'
import { counted, isFree, spending, spendingExact, spent, together, unpriced } from './spending'

test.each([
  [{ usd: 0 }, '$0.00', '$0.0000'],
  [{ usd: 0.37124 }, '$0.37', '$0.3712'],
  [{ usd: 0.0037 }, '<$0.01', '$0.0037'],
  [{ usd: 0.37, unknown: 1 }, '$0.37+', '$0.3700 · 1 request has no known price'],
  [{ usd: 0, unknown: 2 }, 'cost unknown', '2 requests have no known price'],
])('%o is written %s, exactly %s', (cost, short, exact) => {
  expect(spending(cost)).toBe(short)
  expect(spendingExact(cost)).toBe(exact)
})

test('a request without a known cost is counted and not priced', () => {
  expect([0.25, undefined, 0].reduce(spent, undefined)).toEqual({ usd: 0.25, unknown: 1 })
  expect([{ usd: 0 }, { usd: 0, unknown: 1 }, { usd: 0.01 }].map(isFree)).toEqual([
    true,
    false,
    false,
  ])
})

test('an unknown part says whose it is', () => {
  const line = { requests: 3, usage: noUsage }
  const models = [
    { ...line, model: 'dear-1', cost: { usd: 1 } },
    { ...line, model: 'odd-1', cost: { usd: 0, unknown: 3 } },
    { ...line, model: 'odd-2', cost: { usd: 1, unknown: 1 } },
  ]
  expect(unpriced(models)).toBe('odd-1 (3), odd-2 (1)')
  expect(unpriced(models.slice(0, 2))).toBe('odd-1')
})

test('tokens that were not reported are not written as none', () => {
  expect(counted(0, noUsage)).toBe('–')
  expect(counted(1200, noUsage)).toBe('1.2 k+')
  expect(counted(1200, { ...noUsage, known: true })).toBe('1.2 k')
})

test('sums are added with what is unknown in them, and none are no sum', () => {
  expect(together([{ usd: 0.25, unknown: 1 }, undefined, { usd: 1 }])).toEqual({
    usd: 1.25,
    unknown: 1,
  })
  expect(together([undefined])).toBeUndefined()
})
