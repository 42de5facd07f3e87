import { describe, expect, test } from 'vitest'
import type { ToolEntry } from '../model/entries'
import { outcome } from './describe'
import { parseDiff } from './diff'

describe('a diff', () => {
  test('numbers its lines from the hunk headers', () => {
    const lines = parseDiff(
      '@@ -3,3 +3,4 @@ func a()\n same\n-old\n+new\n+more\n@@ -20 +21 @@\n-x\n+y\n',
    )
    expect(lines).toEqual([
      { kind: 'hunk', text: 'func a()' },
      { kind: 'same', text: 'same', old: 3, new: 3 },
      { kind: 'del', text: 'old', old: 4 },
      { kind: 'add', text: 'new', new: 4 },
      { kind: 'add', text: 'more', new: 5 },
      { kind: 'hunk', text: '' },
      { kind: 'del', text: 'x', old: 20 },
      { kind: 'add', text: 'y', new: 21 },
    ])
  })

  test('leaves out the note about a missing newline at the end', () => {
    const lines = parseDiff('@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n')
    expect(lines.map((line) => line.kind)).toEqual(['hunk', 'del', 'add'])
  })
})

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
