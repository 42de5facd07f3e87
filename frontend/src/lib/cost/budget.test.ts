import { fireEvent, render, screen } from '@testing-library/svelte'
import { beforeEach, describe, expect, test } from 'vitest'
import { setLanguage } from '../i18n/i18n.svelte'
import type { Cost } from '../types.gen'
import { budgetText, parseBudget, shareSpent, strain } from '../model/budget'
import Budget from './Budget.svelte'

// OAS-115: the page says what a session may cost.
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
])('%s is written “%s”, which reads back as the same', (budget, written) => {
  expect(budgetText(budget)).toBe(written)
  expect(parseBudget(written)).toBe(budget || undefined)
})

// OAS-115: at four fifths there is a warning.
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

describe('the field', () => {
  beforeEach(() => setLanguage('en'))

  function show(budget?: Cost, usd = 0) {
    const changes: (Cost | undefined)[] = []
    render(Budget, { budget, cost: { usd }, onchange: (next) => changes.push(next) })
    const field = screen.getByRole<HTMLInputElement>('textbox', { name: 'Stop this session at' })
    return { changes, field }
  }

  // OAS-115
  test('sets a budget with Enter', async () => {
    const { changes, field } = show()
    expect(screen.queryByRole('meter')).toBeNull()
    await fireEvent.input(field, { target: { value: '2.5' } })
    await fireEvent.submit(field.form!)
    expect(changes).toEqual([2.5])
  })

  // OAS-115
  test('takes a budget away', async () => {
    const { changes, field } = show(5, 4.2)
    expect(field.value).toBe('5')
    expect(screen.getByRole('meter').getAttribute('aria-valuetext')).toMatch(
      /^84 % of \$5\.00 spent: /,
    )
    await fireEvent.click(screen.getByRole('button', { name: 'Remove' }))
    expect(changes).toEqual([undefined])
  })

  test('does not take what is no amount, and forgets it with Escape', async () => {
    const { changes, field } = show(5)
    await fireEvent.input(field, { target: { value: '1,000' } })
    expect(screen.getByRole('alert').textContent).toContain('2.50')
    await fireEvent.submit(field.form!)
    expect(changes).toEqual([])
    await fireEvent.keyDown(field, { key: 'Escape' })
    expect(field.value).toBe('5')
    expect(screen.queryByRole('alert')).toBeNull()
  })
})
