import { cleanup, render, screen } from '@testing-library/svelte'
import { afterEach, expect, test, vi } from 'vitest'
import type { Transcripts } from '../state/transcripts.svelte'
import ImportProgress from './ImportProgress.svelte'

afterEach(() => {
  cleanup()
  vi.useRealTimers()
})

test('an import that takes long shows how far it is, and is stopped by a button', async () => {
  vi.useFakeTimers()
  const stopImport = vi.fn()
  const answers = [undefined, 0.257, undefined]
  const progress = vi.fn(() => Promise.resolve(answers.shift()))
  render(ImportProgress, { transcripts: { progress, stopImport } as unknown as Transcripts })
  await vi.advanceTimersByTimeAsync(500)
  expect(screen.queryByRole('progressbar')).toBeNull()
  await vi.advanceTimersByTimeAsync(500)
  const bar = screen.getByRole<HTMLProgressElement>('progressbar', {
    name: 'Importing the transcript',
  })
  expect(bar.value).toBe(0.257)
  screen.getByText('25%')
  screen.getByRole('button', { name: 'Stop' }).click()
  expect(stopImport).toHaveBeenCalledOnce()
  await vi.advanceTimersByTimeAsync(500)
  expect(screen.queryByRole('progressbar')).toBeNull()
})
