import { expect, test, vi } from 'vitest'
import type { Call } from '../api'
import { HookEditor } from '../state/hookEditor.svelte'
import type { HookLogRow, HookPoint, HookTemplate } from '../types.gen'
import { outcomeWords } from './words'

const row = (point: HookPoint, change: Partial<HookLogRow>) =>
  ({ outcome: 'ran', effect: {}, place: { session: '', point }, ...change }) as HookLogRow

test.each<[string, HookLogRow]>([
  ['left the call to your permissions', row('preToolUse', {})],
  ['left the question to you', row('permissionRequest', {})],
  ['stopped nothing', row('stop', {})],
  ['stopped nothing', row('userPromptSubmit', {})],
  ['ran', row('postToolUse', {})],
  ['denied: no', row('preToolUse', { effect: { decision: 'deny', reason: 'no' } })],
  ['allowed it', row('preToolUse', { effect: { decision: 'allow' } })],
  ['ended the turn', row('preToolUse', { effect: { stopped: true } })],
  [
    'left the call to your permissions · told the model something',
    row('preToolUse', { effect: { context: 'mind' } }),
  ],
  [
    'failed: exit code 1 · left the call to your permissions',
    row('preToolUse', {
      outcome: 'failed',
      cause: 'exit',
      detail: '1',
      hook: {} as HookLogRow['hook'],
    }),
  ],
  [
    'was stopped at its time limit · denied: late',
    row('preToolUse', { outcome: 'timed_out', effect: { decision: 'deny', reason: 'late' } }),
  ],
  ['did not run: it is switched off', row('preToolUse', { outcome: 'off' })],
])('it is said what becomes of the call: %s', (want, entry) => {
  expect(outcomeWords(entry)).toBe(want)
})

test('a template is tested on its example, and past calls are those of the project', async () => {
  const call = vi.fn(() => Promise.resolve({}))
  const editor = new HookEditor(call as unknown as Call)
  const action = { kind: 'command', command: 'x' } as const
  const example = { tool_name: 'Read' }
  const draft = { point: 'preToolUse', matcher: '*', action } as const
  editor.take({ id: 'secrets', draft, example } as unknown as HookTemplate)
  await editor.test()
  expect(call).toHaveBeenLastCalledWith('hooks.test', expect.objectContaining({ input: example }))
  editor.input = '{"tool_name": "Edit"}'
  await editor.test()
  const edited = { tool_name: 'Edit' }
  expect(call).toHaveBeenLastCalledWith('hooks.test', expect.objectContaining({ input: edited }))
  editor.choosePoint('stop')
  await editor.test()
  expect(call).toHaveBeenLastCalledWith('hooks.test', expect.objectContaining({ input: undefined }))
  await editor.dryRun()
  expect(call.mock.lastCall).not.toHaveProperty('1.session')
})
