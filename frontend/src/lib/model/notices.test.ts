import { expect, test } from 'vitest'
import { cutTitle, headline, wishes } from './notices'
import { families } from './sessions'
import type { NoticeLevel } from '../types.gen'
import { Log, sessionInfo } from './testing'

const rest = sessionInfo('rest')
const failed = sessionInfo('failed', { last_end: 'failed' })
const running = sessionInfo('running', { state: 'processing' })
const waiting = sessionInfo('waiting', { state: 'awaiting_input' })

test.each([
  [[rest, failed, running, waiting], 'failed', 'waiting'],
  [[rest, failed, running], 'failed', 'running'],
  [[rest, failed], 'failed', 'failed'],
  [[rest, failed], 'rest', undefined],
  [[], undefined, undefined],
])('the title says the gravest state', (sessions, open, want) => {
  const said = headline(families(sessions), open)
  expect(said?.mark).toBe(want)
  expect(said?.session.id).toBe(want)
})

test('a title that leaves the page is cut between characters', () => {
  expect(cutTitle('a'.repeat(60))).toBe('a'.repeat(60))
  expect(cutTitle('😀'.repeat(61))).toBe(`${'😀'.repeat(59)}…`)
})

test('messages of hooks to the user are called out, unless they are for debugging', () => {
  const log = new Log()
  const hook = { point: 'stop', name: 'tests', duration_ms: 1 } as const
  const notice = (level: NoticeLevel) => ({ title: level, body: 'All is well.', level })
  log.add('hook_end', hook)
  log.add('hook_end', { ...hook, notice: notice('debug') })
  log.add('hook_end', { ...hook, notice: notice('warning') })
  expect(wishes({ session: 'a', seq: 3, events: log.events })).toEqual([notice('warning')])
  expect(wishes({ session: 'a', seq: 3 })).toEqual([])
})
