import { tick } from 'svelte'
import { fireEvent, screen } from '@testing-library/svelte'
import { expect, test } from 'vitest'
import CopyButton from './CopyButton.svelte'
import { renderInApp } from './testing'

test('a button gets what opens its tooltip when it is first met, and stays the same button', async () => {
  renderInApp(CopyButton, { text: 'x', label: 'Copy it' })
  const button = screen.getByRole('button', { name: 'Copy it' })
  const isTrigger = () => button.hasAttribute('data-tooltip-trigger')
  expect([isTrigger(), button.tabIndex]).toEqual([false, 0])
  await fireEvent.pointerEnter(button)
  await tick()
  expect(isTrigger()).toBe(true)
  expect(screen.getByRole('button', { name: 'Copy it' })).toBe(button)
})
