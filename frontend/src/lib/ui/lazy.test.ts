import { afterEach, expect, test, vi } from 'vitest'
import { Lazy, loadIdly } from './lazy.svelte'

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

test('a page that is never idle loads its parts as well, one after another', async () => {
  vi.useFakeTimers()
  vi.stubGlobal('requestIdleCallback', (then: () => void, options?: { timeout?: number }) => {
    if (options?.timeout) setTimeout(then, options.timeout)
  })
  const loaded: string[] = []
  const part = (name: string) => new Lazy(() => Promise.resolve(loaded.push(name)))
  const stop = loadIdly([part('first'), part('second'), part('third')])
  await vi.advanceTimersByTimeAsync(3000)
  expect(loaded).toEqual(['first'])
  await vi.advanceTimersByTimeAsync(2000)
  expect(loaded).toEqual(['first', 'second'])
  stop()
  await vi.advanceTimersByTimeAsync(9000)
  expect(loaded).toEqual(['first', 'second'])
})
