import { fireEvent, screen } from '@testing-library/svelte'
import { beforeEach, expect, test, vi } from 'vitest'
import { setLanguage } from '../i18n/i18n.svelte'
import { announcement } from '../state/announcements.svelte'
import { useClipboard } from '../state/clipboard'
import CopyButton from './CopyButton.svelte'
import { renderInApp } from './testing'

beforeEach(() => setLanguage('en'))

test('a copied text is confirmed for a moment, and announced each time', async () => {
  vi.useFakeTimers()
  const copy = vi.fn(async () => {})
  useClipboard({ copy })
  renderInApp(CopyButton, { text: 'go test ./...' })
  await fireEvent.click(screen.getByRole('button', { name: 'Copy' }))
  await vi.advanceTimersByTimeAsync(1000)
  const first = announcement()
  expect(first).toBe('Copied')
  await fireEvent.click(screen.getByRole('button', { name: 'Copied' }))
  await vi.advanceTimersByTimeAsync(1000)
  expect(announcement()).not.toBe(first)
  // The second press began the moment again.
  screen.getByRole('button', { name: 'Copied' })
  await vi.advanceTimersByTimeAsync(600)
  screen.getByRole('button', { name: 'Copy' })
  expect(copy.mock.calls).toEqual([['go test ./...'], ['go test ./...']])
  vi.useRealTimers()
})

test('a clipboard that refuses is reported', async () => {
  useClipboard({ copy: () => Promise.reject(new Error('denied')) })
  renderInApp(CopyButton, { text: 'x' })
  await fireEvent.click(screen.getByRole('button', { name: 'Copy' }))
  await screen.findByText(/^The clipboard refused the text/)
  expect(announcement()).toMatch(/^The clipboard refused the text/)
  screen.getByRole('button', { name: 'Copy' })
})
