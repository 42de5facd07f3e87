import { fireEvent, screen } from '@testing-library/svelte'
import { tick } from 'svelte'
import { beforeEach, describe, expect, test } from 'vitest'
import { setLanguage } from '../i18n/i18n.svelte'
import { renderInApp } from '../ui/testing'
import { clamped, parseTimeout } from './timeout'
import TimeoutField from './TimeoutField.svelte'

// K-01: the user's own timeout for commands.
test.each<[string, number | undefined | null]>([
  ['120', 120],
  [' 90 s ', 90],
  ['0', 0],
  ['9999', 9999],
  ['', undefined],
  ['2.5', null],
  ['-1', null],
  ['1e3', null],
  ['two', null],
  ['99999999999', null],
])('“%s” is parsed as %s', (typed, want) => {
  expect(parseTimeout(typed)).toBe(want)
})

test.each([
  [0, 1],
  [1, 1],
  [600, 600],
  [601, 600],
])('%d s are clamped to %d s', (seconds, want) => {
  expect(clamped(seconds)).toBe(want)
})

describe('the field', () => {
  beforeEach(() => setLanguage('en'))

  function show(seconds?: number) {
    const changes: (number | undefined)[] = []
    renderInApp(TimeoutField, { seconds, onchange: (next) => changes.push(next) })
    const field = screen.getByRole<HTMLInputElement>('textbox', { name: 'Command timeout' })
    return { changes, field }
  }

  // K-01
  test('is empty at first, and offers two minutes', async () => {
    const { changes, field } = show()
    expect(field.value).toBe('')
    await fireEvent.click(screen.getByRole('button', { name: '120 s' }))
    expect(changes).toEqual([120])
  })

  // K-01
  test('sets a timeout with Enter, and removes it', async () => {
    const { changes, field } = show(30)
    expect(field.value).toBe('30')
    await fireEvent.click(screen.getByRole('button', { name: 'Remove' }))
    await fireEvent.input(field, { target: { value: '45' } })
    await fireEvent.submit(field.form!)
    await fireEvent.input(field, { target: { value: '' } })
    await fireEvent.submit(field.form!)
    expect(changes).toEqual([undefined, 45, undefined])
  })

  // K-01
  test.each([
    ['900', 600],
    ['0', 1],
  ])('says that %s s is %d s before it sets it', async (typed, want) => {
    const { changes, field } = show()
    await fireEvent.input(field, { target: { value: typed } })
    expect(screen.getByRole('status').textContent).toContain(`${want} s will be set`)
    await fireEvent.submit(field.form!)
    expect(changes).toEqual([want])
  })

  test('rejects text that is not a whole number, and Escape discards it', async () => {
    const { changes, field } = show(30)
    await fireEvent.input(field, { target: { value: '2.5' } })
    await tick()
    expect(screen.getByRole('status').textContent).toContain('whole seconds')
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Set' }).disabled).toBe(true)
    await fireEvent.submit(field.form!)
    await fireEvent.keyDown(field, { key: 'Escape' })
    expect(field.value).toBe('30')
    expect(changes).toEqual([])
  })
})
