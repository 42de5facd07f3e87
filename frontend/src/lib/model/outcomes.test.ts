import { expect, test } from 'vitest'
import type { CallStatus, ToolEntry } from './entries'
import { isSlip, opensItself } from './outcomes'

const call = (status: CallStatus, exitCode?: number): ToolEntry => ({
  type: 'tool',
  key: 'c',
  callId: 'c',
  tool: 'Bash',
  input: '{}',
  status,
  output: '',
  outputFrom: 0,
  startedAt: 0,
  details: exitCode === undefined ? undefined : { command: { exit_code: exitCode, dropped: 0 } },
})

test.each<[string, ToolEntry, boolean, boolean]>([
  ['a command that succeeded', call('done', 0), false, false],
  ['a command that failed', call('done', 1), true, false],
  ['a command that timed out', call('failed', -1), true, false],
  ['a command that was stopped', call('interrupted', -1), false, false],
  ['a call with wrong arguments', call('failed'), false, true],
  ['a call that was denied', call('denied'), true, false],
  ['a call that succeeded', call('done'), false, false],
])('%s', (_, entry, opens, slips) => {
  expect(opensItself(entry)).toBe(opens)
  expect(isSlip(entry)).toBe(slips)
})
