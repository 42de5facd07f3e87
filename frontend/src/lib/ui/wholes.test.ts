import type { VListHandle } from 'virtua/svelte'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Part, Wholes } from './wholes.svelte'

/** Each item is 100 px high, and the view has room for two. */
const items: Part[] = [
  { key: 'p' },
  ...[0, 1, 2, 3, 4, 5].map((n) => ({ key: `a${n}`, whole: 'a' })),
  { key: 'q' },
  ...[0, 1, 2].map((n) => ({ key: `b${n}`, whole: 'b' })),
]

let top = 0
const list = {
  getScrollOffset: () => top,
  getViewportSize: () => 150,
  findItemIndex: (offset: number) => Math.min(items.length - 1, Math.floor(offset / 100)),
} as VListHandle

const make = () => new Wholes(() => ({ items, list }))
const drawn = (wholes: Wholes) => wholes.among(items).map((at) => items[at]!.key)

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

test('at rest, the parts of what is in view are drawn one after each frame', async () => {
  const wholes = make()
  top = 300
  const done = wholes.rest()
  expect(drawn(wholes)).toEqual(['a2', 'a3', 'a0'])
  await vi.advanceTimersByTimeAsync(300)
  expect(drawn(wholes)).toContain('a1')
  await vi.advanceTimersByTimeAsync(2000)
  await done
  expect(drawn(wholes).toSorted()).toEqual(['a0', 'a1', 'a2', 'a3', 'a4', 'a5'])
})

test('while the user scrolls no more is drawn, and what is out of view is let go', async () => {
  const wholes = make()
  top = 300
  const done = wholes.rest()
  top = 400
  wholes.scroll()
  const before = drawn(wholes)
  await vi.advanceTimersByTimeAsync(2000)
  await done
  expect(drawn(wholes)).toEqual(before)
  top = 700
  wholes.scroll()
  expect(drawn(wholes)).toEqual([])
})

test('what is gone to is drawn as a whole at once, also before it is in view', () => {
  const wholes = make()
  top = 0
  wholes.ask(items[9]!)
  wholes.scroll()
  expect(drawn(wholes)).toEqual(['b0', 'b1', 'b2'])
  wholes.ask(items[0]!)
  wholes.scroll()
  expect(drawn(wholes)).toEqual([])
})
