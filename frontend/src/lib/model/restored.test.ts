import { expect, test } from 'vitest'
import type { FilesRestored } from '../types.gen'
import { emptyView } from './entries'
import { apply } from './reducer'
import { isRedone, turnUndone } from './restored'
import { Rows, noFolds } from './rows'
import { Log, message, noUsage, text, toolCall } from './testing'
import { turnAtRest } from './turn'

const undone: FilesRestored = {
  id: 'r1',
  undone: [{ session: 's', call: 'c1' }],
  files: [{ path: 'a' }, { path: 'b' }],
}

/** A turn whose call changed a file, which was undone; and what came after that. */
function conversation(...restored: FilesRestored[]) {
  const log = new Log()
  log.add('user_input', { text: 'Change it' })
  log.add('assistant_text_end', message([text('I do.'), toolCall('c1', 'Bash')], 'tool_calls'))
  log.add('tool_call_start', { call_id: 'c1', tool: 'Bash', input: '{}' })
  const end = { call_id: 'c1', tool: 'Bash', output: '', outcome: 'done' as const, duration_ms: 1 }
  log.add('tool_call_end', { ...end, files: { files: [{ path: 'a' }] } })
  log.add('tool_call_start', { call_id: 'c2', tool: 'Bash', input: '{}' })
  log.add('tool_call_end', { ...end, call_id: 'c2', files: { unwatched: true } })
  log.add('assistant_text_end', message([text('Done.')]))
  log.add('processing_end', { reason: 'failed', rounds: 1, usage: noUsage })
  for (const data of restored) log.add('files_restored', data)
  return apply(emptyView, log.events)
}

test('OC-09: what was undone is a line of the conversation, which names its turn', () => {
  const view = conversation(undone)
  expect(view.entries.at(-1)).toMatchObject({ notice: 'restored', restored: undone })
  expect(turnUndone(undone, view.entries)).toBe(1)
  const other = [...undone.undone!, { session: 'agent', call: 'x' }]
  expect(turnUndone({ ...undone, undone: other }, view.entries)).toBeUndefined()
  const calls = view.entries.filter((entry) => entry.type === 'tool')
  expect(calls.map(({ files }) => files)).toEqual([['a'], undefined])
})

test('a turn can be continued after something was undone, and the line stays above the next one', () => {
  const view = conversation(undone)
  expect(turnAtRest(view)).toBe(view.entries.at(-2))
  const log = new Log()
  log.add('user_input', { text: 'Again' })
  log.add('assistant_text_end', message([text('I look.')]))
  log.add('assistant_text_end', message([text('I look on.')]))
  log.add('assistant_text_end', message([text('Done.')]))
  log.add('processing_end', { reason: 'done', rounds: 1, usage: noUsage })
  const { entries } = apply({ ...view, entries: view.entries.slice(-2) }, log.events)
  const rows = new Rows().of(entries, '', noFolds)
  expect(rows.map((row) => ('notice' in row ? row.notice : row.type))).toEqual([
    'turn',
    'restored',
    'prompt',
    'fold',
    'answer',
  ])
})

test('files that came back completely cannot be redone', () => {
  const redone = { id: 'r2', redone: 'r1', files: undone.files }
  const check = (by: FilesRestored) => isRedone(undone, conversation(undone, by).entries)
  expect(isRedone(undone, conversation(undone).entries)).toBe(false)
  expect(check(redone)).toBe(true)
  expect(check({ ...redone, redone: 'r0' })).toBe(false)
  expect(check({ ...redone, paths: ['a'] })).toBe(false)
  expect(check({ ...redone, partly: ['a'] })).toBe(false)
  expect(check({ ...redone, conflicts: [{ path: 'b', reason: 'changed' }] })).toBe(false)
})
