import { expect, test } from 'vitest'
import { cutTitle, headline } from './notices'
import { families } from './sessions'
import { sessionInfo } from './testing'

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
