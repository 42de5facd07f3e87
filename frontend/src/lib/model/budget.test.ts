import { expect, test } from 'vitest'
import type { Cost } from '../types.gen'
import { budgetText, parseBudget, shareSpent, strain } from './budget'

// OAS-115: the user limits what a session may cost.
test.each<[string, Cost | undefined | null]>([
  ['5', 5],
  [' $2.50 ', 2.5],
  ['.25', 0.25],
  ['3.', 3],
  ['', undefined],
  ['0', undefined],
  ['0.00', undefined],
  ['1,000', null],
  ['2,50', null],
  ['-1', null],
  ['1e3', null],
  ['five', null],
  ['1.00005', null],
  ['10000000', null],
])('“%s” is a budget of %s', (typed, want) => {
  expect(parseBudget(typed)).toBe(want)
})

test.each<[Cost | undefined, string]>([
  [undefined, ''],
  [0, ''],
  [5, '5'],
  [2.5, '2.50'],
  [0.125, '0.125'],
  [0.0125, '0.0125'],
])('%s is written “%s”, which is parsed as the same', (budget, written) => {
  expect(budgetText(budget)).toBe(written)
  expect(parseBudget(written)).toBe(budget || undefined)
})

// OAS-115: there is a warning from 80 % on.
test.each([
  [0, 'calm', 0],
  [3.99, 'calm', 0.798],
  [4, 'near', 0.8],
  [5, 'over', 1],
  [9, 'over', 1],
])('%d of 5 dollars is %s', (usd, want, share) => {
  expect(strain(usd, 5)).toBe(want)
  expect(shareSpent({ usd }, 5)).toBeCloseTo(share)
})
