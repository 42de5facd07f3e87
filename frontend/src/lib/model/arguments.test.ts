import { expect, test } from 'vitest'
import { argument } from './arguments'

test.each([
  ['Bash', '{"command":"npm\\n test","description":"Run"}', 'npm test'],
  ['Bash', '{"command":"make","workdir":"web"}', 'make · web'],
  ['Read', '{"file_path":"a.go","limit":3}', 'a.go'],
  ['Grep', '{"pattern":"x","path":"src"}', 'x · src'],
  ['LSP', '{"operation":"hover","file_path":"a.go","line":2}', 'hover · a.go:3'],
  [
    'RenameSymbol',
    '{"file_path":"a.go","line":2,"symbol":"Area","new_name":"Size"}',
    'Area → Size · a.go',
  ],
  ['LSP', '{"operation":"workspaceSymbol","query":"Area"}', 'workspaceSymbol · Area'],
  ['Custom', '{"depth":3,"topic":"birds"}', 'birds'],
  [
    'ApplyPatch',
    '{"input":"*** Begin Patch\\n*** Add File: a\\n+*** Add File: b\\n*** Delete File: c\\n"}',
    'a, c',
  ],
  ['Bash', 'no json', ''],
  ['Bash', '{"command":"ls \\u202e txt"}', 'ls ⟨U+202E⟩ txt'],
])('a call of %s with %s is described by %s', (tool, input, want) => {
  expect(argument(tool, input)).toBe(want)
})
