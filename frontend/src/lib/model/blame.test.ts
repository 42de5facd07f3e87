import { expect, test } from 'vitest'
import type { BlameReply } from '../types.gen'
import { markOf, runAt, sessionsOf, stepOf } from './blame'

const step = (session: string, more = {}) =>
  ({
    session,
    title: '',
    seq: 1,
    turn: 3,
    at: 1,
    kind: 'tool_call_end',
    call: 'c',
    made: {},
    ...more,
  }) as const

const reply: BlameReply = {
  path: 'f',
  total: 9,
  runs: [
    { from: 1, to: 1, by: 'earlier' },
    { from: 2, to: 4, by: 'step' },
    { from: 5, to: 5, by: 'outside' },
    { from: 6, to: 6, by: 'step', step: 1, unsure: true },
    { from: 7, to: 7, by: 'step', step: 2 },
    { from: 8, to: 8, by: 'step', step: 3 },
    { from: 9, to: 9, by: 'unknown' },
  ],
  steps: [
    step('one'),
    step('two', { turn: 12 }),
    step('one', { kind: 'local_command_end' }),
    step('two', { kind: 'files_restored' }),
  ],
}
const runs = reply.runs!

test('each line belongs to its run', () => {
  expect([1, 2, 3, 4, 5, 9].map((line) => runAt(runs, line)?.from)).toEqual([1, 2, 2, 2, 5, 9])
  expect(runAt(runs, 0)).toBeUndefined()
  expect(runAt(runs, 10)).toBeUndefined()
  expect(runAt([], 1)).toBeUndefined()
})

test('a mark tells session, turn and doubt apart', () => {
  const sessions = sessionsOf(reply)
  expect(runs.map((run) => markOf(reply, run, sessions))).toEqual([
    '·',
    'A3',
    '✎',
    'B12?',
    'A$',
    'B↶',
    '?',
  ])
  expect(stepOf(reply, runs[1]!)?.session).toBe('one')
  expect(stepOf(reply, runs[2]!)).toBeUndefined()
})

test('many sessions keep different marks', () => {
  const many: BlameReply = {
    ...reply,
    runs: Array.from({ length: 60 }, (_, at) => ({
      from: at,
      to: at,
      by: 'step' as const,
      step: at,
    })),
    steps: Array.from({ length: 60 }, (_, at) => step(`s${at}`)),
  }
  const marks = many.runs!.map((run) => markOf(many, run, sessionsOf(many)))
  expect(new Set(marks).size).toBe(60)
})
