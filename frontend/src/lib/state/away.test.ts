import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Call } from '../api'
import type { Absence } from '../types.gen'
import { Away } from './away.svelte'

let isInFront = true
beforeEach(() => {
  isInFront = true
  vi.useFakeTimers({ now: 1000 })
  vi.spyOn(document, 'hasFocus').mockImplementation(() => isInFront)
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** What was asked, of an application that knows an absence. */
function setUp(absences: Absence[] = []) {
  const asked: string[] = []
  const call = async (method: string, { at }: { at?: number }) => {
    asked.push(at === undefined ? method : `${method} ${at}`)
    return { absences }
  }
  return { asked, away: new Away(call as unknown as Call) }
}

test('OAS-630: a page says when it is looked at, and when it no longer is', () => {
  const { asked, away } = setUp()
  const stop = away.watch()
  vi.advanceTimersByTime(30_000)
  isInFront = false
  window.dispatchEvent(new Event('blur'))
  vi.advanceTimersByTime(90_000)
  window.dispatchEvent(new Event('blur'))
  isInFront = true
  window.dispatchEvent(new Event('focus'))
  window.dispatchEvent(new Event('pagehide'))
  stop()
  vi.advanceTimersByTime(90_000)
  window.dispatchEvent(new Event('focus'))
  expect(asked).toEqual([
    'away.look 1000',
    'away.look 31000',
    'away.leave 31000',
    'away.look 121000',
    'away.leave 121000',
  ])
})

test('calls that ran are listed by session until the user dismisses them', async () => {
  const absence = { from: 1, to: 2, session: 'a', commands: 1 }
  const { asked, away } = setUp([absence])
  const stop = away.watch()
  await vi.waitFor(() => expect(away.of('a')).toEqual(absence))
  expect(away.of('b')).toBeUndefined()
  const put = away.dismiss('a')
  expect(away.of('a')).toBeUndefined()
  await put
  expect(asked).toContain('away.dismiss')
  stop()
})
