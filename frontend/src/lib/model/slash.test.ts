import { describe, expect, test } from 'vitest'
import type { SlashCommand } from '../types.gen'
import { commandOf, matching, readSlash, writeValue } from './slash'

const commands: SlashCommand[] = [
  {
    name: 'mcp__hub__review',
    kind: 'prompt',
    source: 'hub',
    arguments: [{ name: 'pull', required: true }, { name: 'tone' }],
  },
  { name: 'mcp__hub__greet', kind: 'prompt', source: 'hub', description: 'Says hello' },
]

test.each([
  ['/', { part: 'name', typed: '' }],
  ['/rev', { part: 'name', typed: 'rev' }],
  ['/HELLO', { part: 'name', typed: 'HELLO' }],
  ['/mcp__hub__review', { part: 'name', typed: 'mcp__hub__review' }],
  ['/etc/hosts', undefined],
  ['say /rev', undefined],
  ['/etc hosts', undefined],
  ['/mcp__hub__review ', { part: 'argument', at: 0, typed: '', from: 18, values: {} }],
  ['/mcp__hub__review 12', { part: 'argument', at: 0, typed: '12', values: { pull: '12' } }],
  [
    '/mcp__hub__review 12 very c',
    { part: 'argument', at: 1, typed: 'very c', values: { pull: '12', tone: 'very c' } },
  ],
  [
    '/mcp__hub__review "a \\"b" x',
    { part: 'argument', at: 1, values: { pull: 'a "b', tone: 'x' } },
  ],
  ['/mcp__hub__review "a b', { part: 'argument', at: 0, values: { pull: 'a b' } }],
  ['/mcp__hub__greet x', { part: 'argument', at: 0, values: {} }],
])('%j is read as %o', (text, want) => {
  const slash = readSlash(text, commands)
  if (want) expect(slash).toMatchObject(want)
  else expect(slash).toBeUndefined()
})

test.each([
  ['/mcp__hub__review', {}, 'pull'],
  ['/mcp__hub__review 12', { pull: '12' }, undefined],
  ['/mcp__hub__review "1 2" a b\nc', { pull: '1 2', tone: 'a b\nc' }, undefined],
  ['/mcp__hub__greet', {}, undefined],
])('%j is a command with %o', (text, values, missing) =>
  expect(commandOf(text, commands)).toMatchObject({ values, missing }),
)

test.each(['/rev', 'hello', '/tmp x', ''])('%j is a message', (text) =>
  expect(commandOf(text, commands)).toBeUndefined(),
)

test('what begins with the typed letters is first', () => {
  expect(matching('r', commands).map(({ name }) => name)).toEqual([
    'mcp__hub__review',
    'mcp__hub__greet',
  ])
  expect(matching('hello', commands)).toHaveLength(1)
})

describe('a value', () => {
  test.each(['a', 'a b', 'say "a"', 'back\\slash and'])('%j is read as it was written', (value) => {
    const text = `/mcp__hub__review ${writeValue(value, false)} x`
    expect(commandOf(text, commands)?.values.pull).toBe(value)
  })
})
