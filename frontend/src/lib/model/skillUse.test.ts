import { expect, test } from 'vitest'
import type { Event, SessionInfo, SkillUse } from '../types.gen'
import { fold } from './sessions'
import { limitsOf } from './skillUse'
import { sessionInfo } from './testing'

const skill = (name: string, more: Partial<SkillUse> = {}): SkillUse => ({ name, ...more })
const typed = { text: 'Review it.', typed: '/review main' }
const begun = { ...typed, skill: skill('review', { by_user: true, args: 'main' }) }
const called = (use: SkillUse | undefined, isError = false) =>
  ({ kind: 'tool_call_end', data: { details: { skill: use }, is_error: isError } }) as const

/** The names of the skills in use after each event, as Go folds them (backend/session_test.go). */
function inUse(events: readonly object[]): string[] {
  let info: SessionInfo = sessionInfo('a')
  return events.map((event, at) => {
    info = fold(info, { session_id: 'a', at: 1, seq: at + 1, ...event } as Event)
    return (info.skills ?? []).map(({ name, args = '' }) => name + args).join(' ')
  })
}

test('a skill begins with an input or a call, and ends with a call or the next input', () => {
  const end = called(skill('', { ended: true }))
  expect(
    inUse([
      { kind: 'user_input', data: begun },
      called(skill('commit', { args: 'x' })),
      called(skill('test'), true),
      called(undefined),
      end,
      end,
      { kind: 'processing_end', data: { reason: 'done' } },
      { kind: 'user_input', data: { text: 'Go on.' } },
      called(skill('test')),
      { kind: 'conversation_rewound', data: { id: 'r', to: 6, turns: 1 } },
      { kind: 'conversation_rewind_undone', data: { id: 'r' } },
      { kind: 'user_input', data: begun },
    ]),
  ).toEqual([
    'review',
    'review commit',
    'review commit',
    'review commit',
    'review',
    'review',
    'review',
    '',
    'test',
    '',
    'test',
    'review',
  ])
})

test('no more than four skills are in use inside each other', () => {
  const five = ['a', 'b', 'c', 'd', 'e'].map((name) => called(skill(name)))
  expect(inUse(five).at(-1)).toBe('a b c d')
})

test('a session is named in lists by what was typed', () => {
  const event = { session_id: 'a', at: 1, seq: 1, kind: 'user_input', data: begun } as Event
  expect(fold(sessionInfo('a'), event).prompt).toBe('/review main')
})

test.each([
  [{}, 'all', []],
  [{ limited: true }, 'none', []],
  [{ limited: true, tools: ['Read'], denied: ['Write'] }, 'only', ['Read']],
  [{ denied: ['Write'] }, 'but', ['Write']],
] as const)('%o allows %s %o', (more, allows, tools) => {
  const use = skill('x', more as Partial<SkillUse>)
  expect(limitsOf(use)).toEqual({ allows, tools })
})
