import { describe, expect, test } from 'vitest'
import type { ServerDraft } from '../types.gen'
import {
  draftOf,
  emptyFields,
  fieldsFromJSON,
  fieldsOf,
  isServerName,
  isWhole,
  shellLine,
  shellWords,
} from './serverDraft'

test.each<[string, string[]]>([
  ['npx -y @scope/server ~/src', ['npx', '-y', '@scope/server', '~/src']],
  [`node 'a b.js' "c \\"d\\"" e\\ f`, ['node', 'a b.js', 'c "d"', 'e f']],
  [`a 'it'\\''s' ""`, ['a', "it's", '']],
  [`a 'open`, ['a', 'open']],
  ['  ', []],
])('%j is the words %j', (line, want) => expect(shellWords(line)).toEqual(want))

test.each<string[][]>([[['npx', '-y', 'a b', "it's", '', '${HOME}/x', 'é']]])(
  '%j is read as it was written',
  (words) => expect(shellWords(shellLine(words))).toEqual(words),
)

describe('a definition', () => {
  const program: ServerDraft = {
    ...{ name: 'files', transport: 'stdio', command: 'npx', args: ['-y', 'a b'], cwd: '/x' },
    ...{ env: { MODE: 'fast', KEY: '' }, options: { trusted: true, start_ms: 20_000 } },
  }
  const remote: ServerDraft = {
    ...{ name: 'hub', transport: 'http', url: 'https://hub.example/mcp', headers: { A: 'b' } },
    ...{ oauth: { client_id: 'me', scopes: ['a', 'b'], callback_port: 99 }, options: {} },
  }

  test.each([program, remote])('is the same after the form', (draft) =>
    expect(draftOf(fieldsOf(draft), draft)).toEqual(draft),
  )

  test('sends a secret only if one was typed', () => {
    const fields = fieldsOf(program)
    expect(draftOf(fields).secrets).toBeUndefined()
    const values = fields.values.map((it) => (it.secret ? { ...it, value: 'hunter2' } : it))
    const draft = draftOf({ ...fields, values })
    expect(draft.secrets).toEqual({ KEY: 'hunter2' })
    expect(draft.env).toEqual({ MODE: 'fast', KEY: '' })
  })
})

test.each([
  ['files', true],
  ['my files', true],
  ['a__b', false],
  ['', false],
  [' a', false],
])('the name %j is allowed: %s (OAS-407)', (name, want) => expect(isServerName(name)).toBe(want))

test('a form is whole once it can be connected', () => {
  const named = { ...emptyFields, name: 'a' }
  expect(isWhole(named)).toBe(false)
  expect(isWhole({ ...named, command: 'npx' })).toBe(true)
  expect(isWhole({ ...named, transport: 'http', url: 'file:///etc' })).toBe(false)
  expect(isWhole({ ...named, transport: 'http', url: '${BASE}/mcp' })).toBe(true)
})

test.each([
  ['{"mcpServers": {"files": {"command": "npx", "args": ["-y", "s"]}}}', 'files', 'npx -y s'],
  ['"files": {"command": "npx", "args": ["-y", "s"]},', 'files', 'npx -y s'],
  ['{"command": "npx"}', '', 'npx'],
])('%s is read as a definition', (text, name, command) =>
  expect(fieldsFromJSON(text)).toMatchObject({ name, command, transport: 'stdio' }),
)

test.each(['', 'npx -y s', '{}', '[1]', '{"a": 1}', '{"mcpServers": {}}'])(
  '%j is not a definition',
  (text) => expect(fieldsFromJSON(text)).toBeUndefined(),
)

test('the address of a definition decides how it is reached', () => {
  expect(fieldsFromJSON('{"url": "https://a/"}')?.transport).toBe('http')
  expect(fieldsFromJSON('{"url": "https://a/", "type": "sse"}')?.transport).toBe('sse')
})
