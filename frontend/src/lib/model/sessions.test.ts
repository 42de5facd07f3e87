import { expect, test } from 'vitest'
import type { SessionInfo } from '../types.gen'
import { families, familyMark } from './sessions'
import { sessionInfo } from './testing'

const agent = (id: string, parent: string, change: Partial<SessionInfo> = {}) =>
  sessionInfo(id, { helper: { parent, folder: '/shop', rounds: 50 }, ...change })

// LOOP-49: an agent belongs to the session that started it.
test('agents stand under their session, oldest first; those of none stand alone', () => {
  const [a, b] = [sessionInfo('a'), sessionInfo('b')]
  const [young, old] = [agent('y', 'a', { created_at: 9 }), agent('o', 'a')]
  const orphan = agent('x', 'gone')
  expect(families([young, a, orphan, old, b])).toEqual([
    { session: a, agents: [old, young] },
    { session: orphan, agents: [] },
    { session: b, agents: [] },
  ])
})

test.each([
  ['rest', 'idle', ['idle']],
  ['running', 'idle', ['processing', 'idle']],
  ['waiting', 'processing', ['processing', 'awaiting_input']],
  ['waiting', 'awaiting_input', ['processing']],
] as const)('%s is what a session %s with agents %o shows', (want, state, states) => {
  const agents = states.map((state, at) => agent(`${at}`, 'a', { state }))
  expect(familyMark(sessionInfo('a', { state }), agents)).toBe(want)
})
