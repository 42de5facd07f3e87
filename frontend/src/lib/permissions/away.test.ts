import { expect, test } from 'vitest'
import { setLanguage } from '../i18n/i18n.svelte'
import type { Absence } from '../types.gen'
import { awayFor, awayWords } from './away'

const absence: Absence = { from: 0, to: 1, session: 's', commands: 1 }
const rule = { text: 'Bash(git status)', decision: 'allow', scope: 'user' } as const

test.each([
  [100_000, '2 m'],
  [59 * 60_000, '59 m'],
  [72 * 60_000, '1 h 12 m'],
])('an absence of %i ms is %s long', (ms, want) => expect(awayFor(ms)).toBe(want))

test.each<[Absence, number, string]>([
  [absence, 0, '1 command ran without asking.'],
  [
    {
      ...absence,
      commands: 14,
      edits: 3,
      others: 1,
      by: [
        { by: 'rule', rule, calls: 3 },
        { by: 'mode', calls: 15 },
      ],
      outside: ['/a', '/b'],
      more: 1,
      cost: { usd: 0.42 },
    },
    1,
    '14 commands, 3 edits, and 1 other call ran without asking. 3 by the rule Bash(git status). ' +
      '3 files outside the project were touched. It cost $0.42. 1 question waits.',
  ],
  [{ ...absence, at_least: true, cost: { usd: 0 } }, 0, 'More than 1 command ran without asking.'],
])('OAS-630: %# says what ran', (given, waits, want) => {
  setLanguage('en')
  expect(awayWords(given, waits)).toBe(want)
})
