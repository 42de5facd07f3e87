import { expect, test } from 'vitest'
import { changesFiles, type Comment, messageOf, splitPath } from './changes'
import type { Entry } from './entries'
import { parseDiff, textOfHunk } from './diff'

test.each([
  ['a.ts', '', 'a.ts'],
  ['src/lib/a.ts', 'src/lib/', 'a.ts'],
  ['vendor/mod/', 'vendor/', 'mod/'],
  ['/tmp/x', '/tmp/', 'x'],
])('%s is %j and %j', (path, folder, name) => {
  expect(splitPath(path)).toEqual({ folder, name })
})

test('comments become one message, each with its place and its line', () => {
  const comment: Comment = { path: 'a.ts', line: 3, side: 'new', quote: '\tlet a', text: ' Why? ' }
  const other: Comment = { ...comment, line: 9, side: 'old', quote: 'x'.repeat(300), text: 'Keep.' }
  expect(messageOf([comment, other], { intro: 'Comments:', removed: 'removed' })).toBe(
    `Comments:\n\na.ts:3\n> let a\nWhy?\n\na.ts:9 (removed)\n> ${'x'.repeat(200)}…\nKeep.`,
  )
})

test.each([
  [{}, false],
  [{ files: ['a'] }, true],
  [{ details: { changes: [] } }, false],
  [{ status: 'done', details: { changes: [{ path: 'a' }] } }, true],
  [{ status: 'denied', details: { changes: [{ path: 'a' }] } }, false],
])('a call with %j changes files: %s', (call, changes) => {
  expect(changesFiles([{ type: 'tool', ...call } as Entry])).toBe(changes)
  expect(changesFiles([{ type: 'command', ...call } as Entry])).toBe(false)
})

test('a hunk keeps its own text, with its notes', () => {
  const one = '@@ -1 +1 @@ f\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n'
  const two = '@@ -9 +9 @@\n-x\n+y\n'
  const text = one + two
  expect(parseDiff(text).hunks.map((hunk) => textOfHunk(text, hunk))).toEqual([one, two])
})
