import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Call } from '../api'
import type { UnsentText } from '../types.gen'

/** What the application keeps, as backend/unsent does. */
let kept: Map<string, UnsentText>
let isAway = false
/** Whether the application does what it is asked, but its answers are lost. */
let isMute = false
let listeners: AbortController

const call = (async (method: string, args: UnsentText) => {
  if (isAway) throw new Error('away')
  if (method === 'unsent.list') return { texts: [...kept.values()] }
  const before = kept.get(args.key) ?? { key: args.key, text: '', revision: 0 }
  if (before.revision !== args.revision && before.text !== args.text) {
    return { now: before, taken: false }
  }
  const revision = Math.max(0, ...[...kept.values()].map((it) => it.revision)) + 1
  const now = before.text === args.text ? before : { ...args, revision }
  kept.set(args.key, now)
  if (isMute) throw new Error('no answer')
  return { now, taken: true }
}) as unknown as Call

/** Opens a page of its own: with the modules of its own, and the storage of its origin. */
async function openPage(origin: 'same' | 'new' = 'same') {
  if (origin === 'new') localStorage.clear()
  vi.resetModules()
  const { UnsentKeeper, ...texts } = await import('./unsent.svelte')
  const keeper = new UnsentKeeper(call)
  await keeper.load()
  return { keeper, ...texts }
}

const keptText = (key: string) => kept.get(key)?.text

beforeEach(() => {
  vi.useFakeTimers()
  kept = new Map()
  isAway = false
  localStorage.clear()
  listeners = new AbortController()
  const add = window.addEventListener.bind(window) as EventTarget['addEventListener']
  const { signal } = listeners
  vi.spyOn(window, 'addEventListener').mockImplementation(
    (name: string, act: EventListenerOrEventListenerObject) => add(name, act, { signal }),
  )
})
afterEach(() => {
  listeners.abort()
  vi.restoreAllMocks()
  vi.useRealTimers()
})

test.each([
  ['draft:s', 'half a message'],
  ['draft:/shop', '开始新的会话'],
  ['draft:s/q1', 'an edited\nqueued message '],
  ['edit:s', '3'],
  ['comments:s', '[{"path":"a.go","line":3,"text":"why?"}]'],
])('%s survives another address of the server', async (key, text) => {
  const page = await openPage()
  page.writeUnsent(key, text)
  await vi.advanceTimersByTimeAsync(500)
  expect(keptText(key)).toBe(text)
  const later = await openPage('new')
  expect(later.readUnsent(key)).toBe(text)
  later.writeUnsent(key, '')
  await vi.advanceTimersByTimeAsync(500)
  expect((await openPage('new')).readUnsent(key)).toBe('')
})

test('what was typed just before the page was left, or while the server was away, is saved by the next one', async () => {
  const page = await openPage()
  isAway = true
  page.writeUnsent('draft:s', 'a long message')
  await vi.advanceTimersByTimeAsync(500)
  isAway = false
  expect((await openPage()).readUnsent('draft:s')).toBe('a long message')
  expect(keptText('draft:s')).toBe('a long message')
})

test.each([
  ['draft:s', 'mine', 'other', 'mine\n\nother'],
  ['draft:s', 'the same', 'the same', 'the same'],
  ['draft:s', 'longer text', 'longer', 'longer text'],
  ['draft:s', 'short', 'short one', 'short one'],
  ['edit:s', '3', '2', '3'],
  ['comments:s', '[{"text":"b"}]', '[{"text":"a"}]', '[{"text":"a"},{"text":"b"}]'],
])('%s of two pages: %j and %j become %j', async (key, mine, other, want) => {
  const page = await openPage()
  kept.set(key, { key, text: other, revision: 7 })
  page.writeUnsent(key, mine)
  await vi.advanceTimersByTimeAsync(500)
  expect([page.readUnsent(key), keptText(key)]).toEqual([want, want])
})

test('a page that is looked at again has what another one wrote or sent', async () => {
  const page = await openPage()
  page.writeUnsent('draft:s', 'first')
  await vi.advanceTimersByTimeAsync(500)
  for (const text of ['first and more', '']) {
    kept.set('draft:s', { key: 'draft:s', text, revision: kept.get('draft:s')!.revision + 1 })
    window.dispatchEvent(new Event('focus'))
    await vi.advanceTimersByTimeAsync(0)
    expect(page.readUnsent('draft:s')).toBe(text)
  }
})

test('what is typed while a text is saved is saved, too', async () => {
  const page = await openPage()
  page.writeUnsent('draft:s', 'a')
  const saved = page.keeper.save()
  page.writeUnsent('draft:s', 'ab')
  await saved
  await vi.advanceTimersByTimeAsync(500)
  expect([keptText('draft:s'), page.readUnsent('draft:s')]).toEqual(['ab', 'ab'])
})

test('a text that was sent while its saving had no answer does not come back', async () => {
  const page = await openPage()
  isMute = true
  page.writeUnsent('draft:s', 'a message')
  await vi.advanceTimersByTimeAsync(500)
  expect(keptText('draft:s')).toBe('a message')
  page.writeUnsent('draft:s', '')
  await vi.advanceTimersByTimeAsync(500)
  isMute = false
  await page.keeper.load()
  expect([keptText('draft:s'), page.readUnsent('draft:s')]).toEqual(['', ''])
})

test('nothing of a session that was removed is left in the browser', async () => {
  const page = await openPage()
  page.writeUnsent('draft:s', 'x')
  page.writeUnsent('draft:s/q', 'y')
  page.dropUnsent('draft:s')
  expect([page.readUnsent('draft:s'), page.readUnsent('draft:s/q')]).toEqual(['', ''])
  expect(Object.keys(localStorage)).toEqual([])
})
