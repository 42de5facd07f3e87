import { fireEvent, render, screen } from '@testing-library/svelte'
import { beforeEach, describe, expect, test } from 'vitest'
import { setLanguage } from '../i18n/i18n.svelte'
import type { Cost } from '../types.gen'
import Budget from './Budget.svelte'

// OAS-115: the page shows what a session may cost.
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
  test('removes a budget', async () => {
    const { changes, field } = show(5, 4.2)
    expect(field.value).toBe('5')
    expect(screen.getByRole('meter').getAttribute('aria-valuetext')).toMatch(
      /^84% of \$5\.00 spent: /,
    )
    await fireEvent.click(screen.getByRole('button', { name: 'Remove' }))
    expect(changes).toEqual([undefined])
  })

  test('rejects text that is not an amount, and Escape discards it', async () => {
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
