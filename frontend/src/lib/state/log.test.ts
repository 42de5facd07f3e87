import { beforeEach, describe, expect, test, vi } from 'vitest'
import { ApiError, type Call } from '../api'
import { apply } from '../model/reducer'
import { emptyView } from '../model/entries'
import { historyOf, Log as Events, message, noUsage, text } from '../model/testing'
import type { Methods } from '../types.gen'
import { Log } from './log.svelte'

const events = new Events()
for (let turn = 0; turn < 1000; turn++) {
  events.add('user_input', { text: `prompt ${turn}` })
  events.add('assistant_text_end', message([text(`answer ${turn}`)]))
  events.add('processing_end', { reason: 'done', rounds: 0, usage: noUsage })
}
const newest = events.durable.length
const whole = apply(emptyView, events.durable).entries

let log: Log
let calls: unknown[]
let problems: ApiError[]
let isRefused: boolean

/** An application that serves the log; it looks for landmarks only nearby, and says where to go on. */
const call = (async (method: keyof Methods, args: { from: number; back?: boolean }) => {
  calls.push(args)
  await Promise.resolve()
  if (isRefused) throw new ApiError({ code: 'busy', message: 'Busy.' })
  if (method === 'conversation.history') return historyOf(events, args as object)
  const { from, back } = args
  const reached = back ? from - 10 : from + 10
  const prompts = [1, 100, 2998]
  const seq = prompts.find((at) => (back ? at < from && at >= reached : at > from && at <= reached))
  return seq ? { seq } : reached > 0 && reached < newest ? { next: reached } : {}
}) as unknown as Call

beforeEach(() => {
  calls = []
  problems = []
  isRefused = false
  log = new Log('s', call, (problem) => problems.push(problem))
  log.newest.take(events.durable.slice(-200), true)
  expect(log.newest.from).toBe(newest - 199)
})

const textsOf = (entries: readonly object[]) =>
  entries.flatMap((entry) => ('text' in entry ? [String(entry.text)] : []))

describe('a log', () => {
  test('is read back page by page to its beginning', async () => {
    while (log.newest.more) await log.older()
    expect(log.newest.view.entries).toEqual(whole)
    expect(calls).toHaveLength(14)
    await log.older()
    expect(calls).toHaveLength(14)
  })

  test('takes older events in a frame', async () => {
    const frames: (() => void)[] = []
    vi.stubGlobal('requestAnimationFrame', (frame: () => void) => frames.push(frame))
    const reading = log.older()
    await vi.waitUntil(() => frames.length > 0)
    expect(log.newest.from).toBe(newest - 199)
    frames[0]!()
    await reading
    expect(log.newest.from).toBe(newest - 399)
    vi.unstubAllGlobals()
  })

  test('is shown from its beginning by one read, and read on from there to the newest passage', async () => {
    expect(await log.reach(1)).toBe(true)
    expect(calls).toEqual([{ session: 's', after: 0, limit: 200 }])
    const { past } = log
    expect(log.shown).toBe(past)
    expect(textsOf(log.shown.view.entries)[0]).toBe('prompt 0')
    expect(log.shown.more).toBe(false)
    // It ends with a turn, which the next page does not change.
    expect(log.shown.view.entries.at(-1)?.type).toBe('turn')
    const before = log.shown.view.entries
    await log.newer()
    expect(log.shown.view.entries.slice(0, before.length)).toEqual(before)
    while (log.past) await log.newer()
    // The list is not replaced when it becomes the newest one.
    expect(log.newest).toBe(past)
    expect(log.shown).toBe(past)
    expect(log.shown.view.entries).toEqual(whole)
    expect(log.shown.prepending).toBe(false)
  })

  test('takes new events while its beginning is shown', async () => {
    await log.reach(1)
    const more = new Events()
    more.add('user_input', { text: 'new' })
    const live = { ...more.events[0]!, seq: newest + 1 }
    log.newest.append([live])
    expect(textsOf(log.newest.view.entries).at(-1)).toBe('new')
    expect(textsOf(log.shown.view.entries)).not.toContain('new')
    while (log.past) await log.newer()
    const entries = apply(emptyView, [...events.durable, live]).entries
    expect(log.newest.view.entries).toEqual(entries)
    expect(log.newest.view).toMatchObject({ seq: newest + 1, state: 'processing' })
  })

  test('is read around an event that is far back, and not again where it is known', async () => {
    expect(await log.reach(1500)).toBe(true)
    expect(calls).toHaveLength(1)
    expect(log.shown.from).toBe(1450)
    expect(log.shown.more).toBe(true)
    expect(await log.reach(1510)).toBe(true)
    expect(calls).toHaveLength(1)
    await log.older()
    expect(log.shown.from).toBe(1250)
    // A little further back the passage grows, further back there is another one.
    const { shown } = log
    expect(await log.reach(700)).toBe(true)
    expect(log.shown).toBe(shown)
    expect(log.shown.from).toBe(650)
    expect(await log.reach(newest - 100)).toBe(true)
    expect(log.past).toBeUndefined()
    expect(calls).toHaveLength(3)
  })

  test('shows an event before the end of a page that ends in a turn', async () => {
    for (const seq of [1640, 1641, 1642, 1643]) {
      log.showNewest()
      expect(await log.reach(seq)).toBe(true)
    }
  })

  test('joins the newest passage when a jump arrives right before it', async () => {
    await log.reach(1)
    expect(await log.reach(newest - 250)).toBe(true)
    expect(log.past).toBeUndefined()
    expect(log.newest.view.seq).toBe(newest)
    // The first entry is the end of a turn whose start was not read.
    const { entries } = log.newest.view
    expect(entries.slice(1)).toEqual(whole.slice(1 - entries.length))
  })

  test('waits for a read that is under way before it reads on', async () => {
    const meanwhile = log.older()
    expect(await log.reach(newest - 300)).toBe(true)
    await meanwhile
    expect(calls).toHaveLength(1)
  })

  test('looks for a landmark until the whole log was searched', async () => {
    expect(await log.landmark('prompt', 60, false)).toEqual({ seq: 100 })
    expect(calls).toHaveLength(4)
    expect(await log.landmark('prompt', 99, true)).toEqual({ seq: 1 })
    expect(await log.landmark('prompt', 1, true)).toBeUndefined()
  })

  test('reports a read that fails, and keeps what is known', async () => {
    isRefused = true
    expect(await log.reach(1)).toBe(false)
    expect(await log.landmark('error', 9, true)).toBeUndefined()
    expect(await log.find('x', 0)).toBeUndefined()
    expect(problems.map(({ message }) => message)).toEqual(['Busy.', 'Busy.', 'Busy.'])
    expect(log.shown).toBe(log.newest)
    isRefused = false
    expect(await log.reach(1)).toBe(true)
  })
})
