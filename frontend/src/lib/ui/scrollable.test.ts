import { render, screen, waitFor } from '@testing-library/svelte'
import { beforeEach, expect, test } from 'vitest'
import { setLanguage } from '../i18n/i18n.svelte'
import Problem from './Problem.svelte'
import { scrollable } from './scrollable'

beforeEach(() => setLanguage('en'))

function box(scrollHeight: number): HTMLElement {
  const element = document.body.appendChild(document.createElement('div'))
  Object.defineProperties(element, {
    clientHeight: { value: 100 },
    scrollHeight: { value: scrollHeight, configurable: true },
  })
  return element
}
const grow = async (element: HTMLElement, to: number) => {
  Object.defineProperty(element, 'scrollHeight', { value: to, configurable: true })
  element.append('More. ')
  await waitFor(() => expect(element.textContent).not.toBe(''))
}

test('an element is a tab stop only while its content overflows', async () => {
  const element = box(100)
  const stop = scrollable(element)
  await grow(element, 100)
  expect(element.tabIndex).toBe(-1)
  await grow(element, 300)
  await waitFor(() => expect(element.tabIndex).toBe(0))
  await grow(element, 100)
  await waitFor(() => expect(element.tabIndex).toBe(-1))
  if (stop) stop()
})

test('an element that has the focus keeps it when its content shrinks', async () => {
  const element = box(300)
  scrollable(element)
  await grow(element, 300)
  await waitFor(() => expect(element.tabIndex).toBe(0))
  element.focus()
  await grow(element, 100)
  expect(document.activeElement).toBe(element)
})

test('long details of a problem can be scrolled by keyboard', async () => {
  const details = 'line\n'.repeat(200)
  render(Problem, { problem: { message: 'It failed.', details } })
  await screen.findByText('It failed.')
  screen.getByRole('button', { name: 'Details' }).click()
  const pre = await waitFor(() => screen.getByText(/line/))
  await grow(pre, 5000)
  await waitFor(() => expect(pre.tabIndex).toBe(0))
})
