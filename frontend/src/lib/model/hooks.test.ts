import { expect, test } from 'vitest'
import type { HookLogRow } from '../types.gen'
import { isWhole, laidOut, tallyOf, tidy } from './hooks'

const row = (id: number, change: Partial<HookLogRow>): HookLogRow => ({
  id,
  at: id,
  place: { session: 's', point: 'preToolUse' },
  hook: { id: 'h', name: 'guard', origin: { scope: 'local' } },
  outcome: 'ran',
  duration_ms: 1,
  effect: {},
  ...change,
})

test('the reasons why a hook did not run are counted, the most frequent first', () => {
  const missed = { outcome: 'not_matched', cause: 'matcher', detail: 'Bash' } as const
  const { ran, causes } = tallyOf([
    row(5, { outcome: 'off' }),
    row(4, missed),
    row(3, missed),
    row(2, { outcome: 'failed' }),
    row(1, {}),
  ])
  expect(ran).toBe(2)
  expect(causes.map(({ row: { outcome }, n }) => [outcome, n])).toEqual([
    ['not_matched', 2],
    ['off', 1],
  ])
})

// COM-70
test('a draft leaves out what is not set', () => {
  const draft = {
    name: ' Guard ',
    point: 'preToolUse',
    matcher: ' Bash ',
    timeout: 0,
    action: { kind: 'command', command: ' ./guard.sh ' },
  } as const
  expect(tidy(draft)).toEqual({
    name: 'Guard',
    point: 'preToolUse',
    matcher: 'Bash',
    action: { kind: 'command', command: './guard.sh' },
  })
  expect(isWhole(draft)).toBe(true)
  expect(isWhole({ ...draft, action: { kind: 'http', command: 'x' } })).toBe(false)
  expect(tidy({ ...draft, matcher: ' ' })).not.toHaveProperty('matcher')
})

test('JSON is laid out, and other output stays as it is', () => {
  expect(laidOut('{"a":1}')).toBe('{\n  "a": 1\n}')
  expect(laidOut('not JSON')).toBe('not JSON')
})
