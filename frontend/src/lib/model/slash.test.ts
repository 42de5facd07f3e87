import { describe, expect, test } from 'vitest'
import type { SlashCommand } from '../types.gen'
import { callAgain, commandOf, matching, readSlash, skillOf, writeValue } from './slash'

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

test('names that begin with the typed letters come first', () => {
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

describe('a skill', () => {
  const skill = (name: string, more: Partial<SlashCommand> = {}): SlashCommand => ({
    name,
    kind: 'skill',
    source: `.claude/skills/${name}/SKILL.md`,
    ...more,
  })
  const all = [
    ...commands,
    skill('review', { aliases: ['rv', 'r', 'r', 'review', 'test'], description: 'Says no' }),
    skill('test', { aliases: ['rv', 't'] }),
    skill('git:commit'),
  ]

  test.each([
    ['/review', 'review', 'review', ''],
    ['/rv main', 'review', 'rv', 'main'],
    ['/test all', 'test', 'test', 'all'],
    ['/t  "two words" and \\n ', 'test', 't', '"two words" and \\n'],
    ['/git:commit\nfirst line\n  second', 'git:commit', 'git:commit', 'first line\n  second'],
  ])('%j uses %s, typed as %s, with %j', (text, name, named, args) => {
    expect(skillOf(text, all)).toMatchObject({ named, call: { name, arguments: args } })
    expect(commandOf(text, all)).toBeUndefined()
    expect(callAgain(text, { name })).toEqual({ name, arguments: args })
  })

  test.each(['/rev', '/Review', '/review/x', '/usr/bin/review is broken', '//review', 'review'])(
    '%j is a message',
    (text) => expect(skillOf(text, all)).toBeUndefined(),
  )

  test('is read while it is typed, also before its first argument', () => {
    expect(readSlash('/rv ', all)).toMatchObject({ part: 'free', named: 'rv', typed: '' })
    expect(readSlash('/rv a\nb', all)).toMatchObject({ part: 'free', typed: 'a\nb' })
  })

  test('is offered once under each name that leads to it', () => {
    const offered = (typed: string) => matching(typed, all).map((it) => [it.name, it.command.name])
    expect(offered('rv')).toEqual([['rv', 'review']])
    expect(offered('r').slice(0, 4)).toEqual([
      ['r', 'review'],
      ['mcp__hub__review', 'mcp__hub__review'],
      ['review', 'review'],
      ['rv', 'review'],
    ])
    expect(offered('').map(([name]) => name)).toEqual(all.map(({ name }) => name).toSorted())
  })
})
