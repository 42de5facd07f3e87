import { describe, expect, test } from 'vitest'
import type { ToolEntry } from '../model/entries'
import { outcome, withoutExitNote } from './describe'

describe('the result of a call', () => {
  const ended = (change: Partial<ToolEntry>) => outcome({ status: 'done', ...change } as ToolEntry)

  test('is the most important one', () => {
    expect(ended({ details: { listing: { count: 14, unit: 'matches' } } }).text).toBe('14 matches')
    const change = { path: 'a', added: 8, removed: 2, diff: '' }
    expect(ended({ details: { changes: [change] } })).toMatchObject({ added: 8, removed: 2 })
    const created = { path: 'b', created: true, added: 1, removed: 0, diff: '' }
    expect(ended({ details: { changes: [created] } })).toMatchObject({ text: 'new file', added: 1 })
    expect(ended({ details: { changes: [change, created] } })).toMatchObject({
      text: '2 files',
      added: 9,
      removed: 2,
    })
    const command = { exit_code: 1 }
    expect(ended({ status: 'failed', details: { command } })).toEqual({ text: 'exit 1', bad: true })
    expect(ended({ status: 'denied' })).toEqual({ text: 'denied' })
  })
})

test.each([
  ['FAIL\n[Exit code 2]', 2, 'FAIL'],
  ['[Exit code 2]', 2, ''],
  ['[Exit code 2]\n', 2, '[Exit code 2]\n'],
  ['it said [Exit code 1]', 2, 'it said [Exit code 1]'],
  ['still running', undefined, 'still running'],
])('of %j, which ended with %s, %j is shown', (output, code, want) =>
  expect(withoutExitNote(output, code)).toBe(want),
)
