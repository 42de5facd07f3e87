import { expect, test } from 'vitest'
import type { FileChange } from '../types.gen'
import { digestOf, isTest, lastFailure } from './digest'
import type { ToolEntry } from './entries'
import { callOf } from './testing'

const change = (path: string, added: number, removed: number): FileChange => ({
  path,
  added,
  removed,
  diff: '',
})
const edit = (path: string, change?: Partial<ToolEntry>) =>
  callOf('Edit', { file_path: path }, { details: {}, ...change })
const bash = (command: string, exit_code = 0) =>
  callOf(
    'Bash',
    { command },
    {
      status: exit_code ? 'failed' : 'done',
      details: { command: { exit_code, timed_out: false, cwd: '/' } } as ToolEntry['details'],
    },
  )

test('a digest counts files once, also those that commands changed, and commands that ran tests by how the last one ended', () => {
  const calls = [
    callOf('Read', { file_path: 'a' }),
    callOf('Read', { file_path: 'a' }),
    callOf('Read', { file_path: 'b' }),
    callOf('Grep', { pattern: 'x' }),
    edit('a', { details: { changes: [change('a', 8, 2)] } }),
    edit('a', { details: { changes: [change('a', 1, 1)] } }),
    edit('b', { status: 'denied', details: { changes: [change('b', 1, 1)] } }),
    { ...bash('gofmt -w .'), files: ['a', 'gen/b'] },
    bash('ls nowhere', 2),
    bash('go test ./...'),
    bash('go test ./...', 1),
    callOf('SpawnAgent', { task: 't' }),
    callOf('Look', {}),
  ]
  expect(digestOf(calls)).toEqual({
    read: 2,
    searched: 1,
    changed: 2,
    added: 9,
    removed: 3,
    ran: 1,
    tests: 'failed',
    agents: 1,
    asked: 0,
    served: 0,
    other: 1,
    failed: 1,
    denied: 1,
  })
  expect(digestOf([...calls, bash('npm run test:unit')]).tests).toBe('passed')
})

test.each([
  ['go test ./...', true],
  ['cd shop && CI=1 npm test -- --run', true],
  ['npx vitest run a.test.ts', true],
  ['python -m pytest -q', true],
  ['.venv/bin/pytest', true],
  ['./gradlew test', true],
  ['make check', true],
  ['make -j 8 CC=gcc test', false],
  ['make -j8 CC=gcc test', true],
  ['mvn -Da=b --batch-mode run c=d test', true],
  ['npm install jest', false],
  ['cat test/latest.txt', false],
  ['git commit -m "go test"', false],
  ['cargo check', false],
])('%s runs tests: %s', (command, runs) => {
  expect(isTest(command)).toBe(runs)
})

// A pattern that may read an option in two ways tries every combination of them, which takes hours.
test.each([' -D=b', ' a=b=c', ' -D=b=c', ' a=-b'])('forty times%s are read at once', (option) => {
  expect(isTest(`make${option.repeat(40)} all`)).toBe(false)
  expect(isTest(`make${option.repeat(40)} test`)).toBe(true)
})

test('a failure is left behind unless the same call succeeded after it', () => {
  const failed = bash('make lint', 1)
  expect(lastFailure([failed, bash('ls')])).toBe(failed)
  expect(lastFailure([failed, bash('make lint')])).toBeUndefined()
  expect(lastFailure([failed, edit('a', { status: 'failed', details: undefined })])).toBe(failed)
})

test('calls of servers are counted apart from those of other tools, whatever their names are', () => {
  const served = [
    'mcp__a__b',
    'mcp__git-hub__list_issues',
    'mcp__x__y__z',
    'mcp__a_b__c',
    'mcp__1__2',
  ]
  const other = ['Look', 'mcp__', 'mcp__server', 'Mcp__a__b', 'WebFetch']
  const { served: n, other: m } = digestOf([...served, ...other].map((tool) => callOf(tool, {})))
  expect([n, m]).toEqual([served.length, other.length])
})
