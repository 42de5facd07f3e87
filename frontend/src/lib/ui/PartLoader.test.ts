import { render, screen } from '@testing-library/svelte'
import { afterEach, expect, test, vi } from 'vitest'
import { Lazy } from './lazy.svelte'
import PartLoader from './PartLoader.svelte'

afterEach(() => vi.useRealTimers())

test.each([
  [false, 'Loading…'],
  [true, undefined],
])('a part that takes long is said to be loading, if quiet is %s', async (quiet, said) => {
  vi.useFakeTimers()
  render(PartLoader, { part: new Lazy(() => new Promise(() => {})), quiet })
  await vi.advanceTimersByTimeAsync(299)
  expect(screen.queryByRole('status')).toBeNull()
  await vi.advanceTimersByTimeAsync(1)
  expect(screen.queryByRole('status')?.textContent).toBe(said)
})
