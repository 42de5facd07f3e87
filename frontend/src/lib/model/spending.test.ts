import { expect, test } from 'vitest'
import { noUsage } from './testing'
import {
  barsOf,
  cacheSaving,
  counted,
  everyDay,
  isFree,
  spent,
  together,
  tokenKinds,
} from './spending'

test('a request of unknown cost is counted', () => {
  expect([0.25, undefined, 0].reduce(spent, undefined)).toEqual({ usd: 0.25, unknown: 1 })
  expect([{ usd: 0 }, { usd: 0, unknown: 1 }, { usd: 0.01 }].map(isFree)).toEqual([
    true,
    false,
    false,
  ])
})

test('unreported tokens are not shown as zero', () => {
  expect(counted(0, noUsage)).toBe('–')
  expect(counted(1200, noUsage)).toBe('1.2 k+')
  expect(counted(1200, { ...noUsage, known: true })).toBe('1.2 k')
})

test('K-06: what the cache saved is said as far as prices are known', () => {
  const line = (model: string, cache_read: number) => ({
    ...{ model, requests: 1, cost: { usd: 1 } },
    usage: { ...noUsage, cache_read },
  })
  const prices = { a: { input: 3, output: 15, cache_read: 0.3 }, b: { input: 2, output: 8 } }
  const saved = cacheSaving(
    [line('a', 1_000_000), line('b', 1_000_000), line('c', 1_000_000)],
    ({ model = '' }) => prices[model as 'a' | 'b'],
  )
  expect(saved).toBeCloseTo(2.7)
})

test('sums are added up with their unknown parts; without any sum the result is undefined', () => {
  expect(together([{ usd: 0.25, unknown: 1 }, undefined, { usd: 1 }])).toEqual({
    usd: 1.25,
    unknown: 1,
  })
  expect(together([undefined])).toBeUndefined()
})

test('each kind of token is counted once', () => {
  const usage = {
    input: 100,
    cache_read: 70,
    cache_write: 20,
    output: 50,
    reasoning: 30,
    known: true,
  }
  const kinds = tokenKinds(usage)
  expect(kinds.map(({ count }) => count)).toEqual([100, 70, 20, 20, 30])
  const sum = kinds.reduce((all, { count }) => all + count, 0)
  expect(sum).toBe(usage.input + usage.cache_read + usage.cache_write + usage.output)
  expect(tokenKinds({ ...usage, output: 10 }).map(({ count }) => count)).toEqual([
    100, 70, 20, 0, 30,
  ])
})

const line = (day: string, usd: number) => ({ day, requests: 1, usage: noUsage, cost: { usd } })

test('the bars of a chart are the newest, the oldest first, in the proportion of their costs', () => {
  const lines = [line('2026-11-03', 1), line('2026-11-02', 4), line('2026-11-01', 8)]
  expect(barsOf(lines, 2).map(({ line: { day }, share }) => [day, share])).toEqual([
    ['2026-11-02', 1],
    ['2026-11-03', 0.25],
  ])
  expect(barsOf([line('2026-11-03', 0)], 2)[0]!.share).toBe(0)
  expect(barsOf([], 2)).toEqual([])
})

test('days on which nothing was asked are in the chart, up to its length', () => {
  const days = [line('2026-03-02', 1), line('2026-02-27', 4)]
  expect(everyDay(days, 9).map(({ day, cost }) => [day, cost.usd])).toEqual([
    ['2026-03-02', 1],
    ['2026-03-01', 0],
    ['2026-02-28', 0],
    ['2026-02-27', 4],
  ])
  expect(everyDay(days, 2)).toHaveLength(2)
  expect(everyDay([], 9)).toEqual([])
})
