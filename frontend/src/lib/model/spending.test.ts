import { expect, test } from 'vitest'
import { noUsage } from './testing'
import { counted, isFree, spent, together } from './spending'

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

test('sums are added up with their unknown parts; without any sum the result is undefined', () => {
  expect(together([{ usd: 0.25, unknown: 1 }, undefined, { usd: 1 }])).toEqual({
    usd: 1.25,
    unknown: 1,
  })
  expect(together([undefined])).toBeUndefined()
})
