import { expect, test } from 'vitest'
import type { SessionInfo } from '../types.gen'
import { families, familyMark } from './sessions'
import { sessionInfo } from './testing'

const agent = (id: string, parent: string, change: Partial<SessionInfo> = {}) =>
  sessionInfo(id, { helper: { parent, folder: '/shop', rounds: 50 }, ...change })

// LOOP-49: an agent belongs to the session that started it.
test('agents are listed under their session, oldest first; those without one are listed on their own', () => {
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
] as const)('the mark is %s if the session is %s and its agents are %o', (want, state, states) => {
  const agents = states.map((state, at) => agent(`${at}`, 'a', { state }))
  expect(familyMark(sessionInfo('a', { state }), agents)).toBe(want)
})
