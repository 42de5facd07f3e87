import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { families } from '../model/sessions'
import { sessionInfo } from '../model/testing'
import type { Notices as Choice, SessionInfo } from '../types.gen'
import { Notices, settleMs } from './notices'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Notices about one session, which starts at rest. */
function start(choice: Choice = {}) {
  const told: string[] = []
  const page = { inFront: false }
  const notices = new Notices({
    isInFront: () => page.inFront,
    choice: () => choice,
    notify: (kind, { id }) => told.push(`${id} ${kind}`),
  })
  const become = (change: Partial<SessionInfo>, ...others: SessionInfo[]) =>
    notices.follow(families([sessionInfo('a', change), ...others]))
  become({})
  return { notices, page, told, become }
}

const wait = () => vi.advanceTimersByTime(settleMs)

test('a session’s new state is announced once, after it has lasted', () => {
  const { told, become } = start()
  become({ state: 'processing' })
  wait()
  become({ state: 'awaiting_input' })
  vi.advanceTimersByTime(settleMs - 1)
  expect(told).toEqual([])
  become({ state: 'awaiting_input', updated_at: 7 })
  vi.advanceTimersByTime(1)
  wait()
  expect(told).toEqual(['a waiting'])
  become({ state: 'processing' })
  become({ state: 'idle', last_end: 'done' })
  wait()
  become({ state: 'processing' })
  become({ state: 'idle', last_end: 'failed' })
  wait()
  expect(told).toEqual(['a waiting', 'a done', 'a failed'])
})

test.each<[string, (it: ReturnType<typeof start>) => void, Choice?]>([
  ['a state that did not last', ({ become }) => become({ state: 'processing' })],
  ['a state while the page is in front', ({ page }) => void (page.inFront = true)],
  ['the state of a session that is gone', ({ notices }) => notices.follow([])],
  ['a state of a page that is closed', ({ notices }) => notices.stop()],
  ['anything if it is switched off', () => {}, { off: true }],
  ['a state that is muted', () => {}, { mute_waiting: true }],
])('%s is not announced', (_, then, choice) => {
  const it = start(choice)
  it.become({ state: 'awaiting_input' })
  then(it)
  wait()
  expect(it.told).toEqual([])
})

test('neither an interruption nor an unknown session is announced', () => {
  const { told, become } = start()
  become({ state: 'processing' })
  const other = sessionInfo('b', { state: 'awaiting_input' })
  become({ state: 'idle', last_end: 'interrupted' }, other)
  wait()
  expect(told).toEqual([])
})

test('the question of an agent is announced for the session that started it', () => {
  const { told, become } = start()
  const helper = { parent: 'a', folder: '/shop', rounds: 50 }
  become({ state: 'processing' }, sessionInfo('h', { helper, state: 'awaiting_input' }))
  wait()
  expect(told).toEqual(['a waiting'])
})
