import { describe, expect, test } from 'vitest'
import type { ToolEntry } from '../conversation/entries'
import { argument, outcome } from './describe'
import { parseDiff } from './diff'
import { parseTerminal } from './terminal'

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

  test('leaves out the note on a missing last newline', () => {
    const lines = parseDiff('@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n')
    expect(lines.map((line) => line.kind)).toEqual(['hunk', 'del', 'add'])
  })
})

describe('terminal output', () => {
  const plain = (output: string) =>
    parseTerminal(output)
      .map((span) => span.text)
      .join('')

  test.each([
    ['colours', '\x1b[1;31mred\x1b[0m', 'red'],
    ['a hyperlink with a script', '\x1b]8;;javascript:alert(1)\x07link\x1b]8;;\x07', 'link'],
    ['a clipboard write', 'a\x1b]52;c;ZXZpbA==\x07b', 'ab'],
    ['an unfinished string', 'a\x1b]0;title', 'a'],
    ['cursor movement', 'a\x1b[2J\x1b[1;1Hb', 'ab'],
    ['other escapes', 'a\x1bcb\x1b(Bc', 'abc'],
    ['bells and backspaces', 'a\x07\x08b', 'ab'],
    ['progress on one line', '10%\r50%\r100%\ndone', '100%\ndone'],
    ['Windows line ends', 'a\r\nb\r\n', 'a\nb\n'],
  ])('%s', (_, given, want) => {
    expect(plain(given)).toBe(want)
  })

  test('keeps the colours that it has names for', () => {
    expect(parseTerminal('\x1b[32mok\x1b[0m \x1b[2;91mno\x1b[39m!\x1b[38;5;200mx')).toEqual([
      { text: 'ok', classes: 'green' },
      { text: ' ', classes: '' },
      { text: 'no', classes: 'red dim' },
      { text: '!x', classes: 'dim' },
    ])
  })
})

describe('a line', () => {
  test.each([
    ['Bash', '{"command":"npm\\n test","description":"Run"}', 'npm test'],
    ['Bash', '{"command":"make","workdir":"web"}', 'make · web'],
    ['Read', '{"file_path":"a.go","limit":3}', 'a.go'],
    ['Grep', '{"pattern":"x","path":"src"}', 'x · src'],
    ['Custom', '{"depth":3,"topic":"birds"}', 'birds'],
    [
      'ApplyPatch',
      '{"input":"*** Begin Patch\\n*** Add File: a\\n+*** Add File: b\\n*** Delete File: c\\n"}',
      'a, c',
    ],
    ['Bash', 'no json', ''],
    ['Bash', '{"command":"ls \\u202e txt"}', 'ls ⟨U+202E⟩ txt'],
  ])('of %s %s tells %s', (tool, input, want) => {
    expect(argument(tool, input)).toBe(want)
  })

  const ended = (change: Partial<ToolEntry>) => outcome({ status: 'done', ...change } as ToolEntry)

  test('tells the result that matters', () => {
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
