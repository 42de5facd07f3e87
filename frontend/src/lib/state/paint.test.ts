import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { afterPaint, beforePaint, inFrame } from './paint'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** How often work had run a number of milliseconds after it was wanted, with a key pressed at some times. */
function ran(ms: number, ...keys: number[]) {
  const work = vi.fn()
  const paint = beforePaint(work)
  for (const at of keys) setTimeout(() => window.dispatchEvent(new KeyboardEvent('keydown')), at)
  vi.advanceTimersByTime(100)
  paint()
  paint()
  vi.advanceTimersByTime(ms)
  return work.mock.calls.length
}

test('work runs once before the next frame', () => {
  expect(ran(20)).toBe(1)
  expect(ran(500)).toBe(1)
})

test('a frame after a key shows the key, and work waits', () => {
  expect(ran(20, 99)).toBe(0)
  expect(ran(80, 99)).toBe(1)
})

test('work does not wait for a user who keeps typing', () => {
  const keys = Array.from({ length: 30 }, (_, at) => at * 20)
  expect(ran(100, ...keys)).toBe(0)
  expect(ran(150, ...keys)).toBe(1)
})

test('the frame that shows a key is not kept waiting by work', () => {
  const happened: string[] = []
  const note = () => {
    happened.push('frame')
    requestAnimationFrame(note)
  }
  const paint = beforePaint(() => happened.push('work'))
  for (let at = 0; at < 400; at += 20)
    setTimeout(() => window.dispatchEvent(new KeyboardEvent('keydown')), at)
  paint()
  requestAnimationFrame(note)
  vi.advanceTimersByTime(400)
  // The eighth frame, after 128 ms, is the first that it may no longer wait for.
  expect(happened.indexOf('work')).toBe(8)
})

test('a window that does not paint runs work by a timer', () => {
  vi.stubGlobal('requestAnimationFrame', () => 0)
  expect(ran(240)).toBe(0)
  expect(ran(260)).toBe(1)
  vi.unstubAllGlobals()
})

test('work that waits for a frame comes after its callbacks, and by a timer if the window does not paint', async () => {
  const happened: string[] = []
  const wait = (name: string) => void afterPaint().then(() => happened.push(name))
  wait('painted')
  requestAnimationFrame(() => happened.push('callback'))
  await vi.advanceTimersByTimeAsync(20)
  expect(happened).toEqual(['callback', 'painted'])
  vi.stubGlobal('requestAnimationFrame', () => 0)
  wait('hidden')
  await vi.advanceTimersByTimeAsync(260)
  expect(happened).toContain('hidden')
  vi.unstubAllGlobals()
})

test('work that belongs to a frame comes in it, and by a timer if the window has none', async () => {
  const happened: string[] = []
  const wait = (name: string) => void inFrame().then(() => happened.push(name))
  wait('shown')
  setTimeout(() => happened.push('later'), 20)
  await vi.advanceTimersByTimeAsync(20)
  expect(happened).toEqual(['shown', 'later'])
  vi.stubGlobal('requestAnimationFrame', () => 0)
  wait('hidden')
  await vi.advanceTimersByTimeAsync(260)
  expect(happened).toContain('hidden')
  vi.unstubAllGlobals()
})
