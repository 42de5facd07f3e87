import { expect, test } from 'vitest'
import type { SkillFinding, SkillRow } from '../types.gen'
import {
  countFindings,
  everySkill,
  fitsFilter,
  isInMain,
  isSkillName,
  lineSpan,
  markedLines,
  sourceOf,
  standingReferences,
  withName,
} from './skills'

const row = (change: Partial<SkillRow> = {}): SkillRow => ({
  id: 'a',
  name: 'release',
  kind: 'skill',
  description: 'Cuts a Release',
  state: 'ready',
  place: { scope: 'project', file: '.agent/skills/release/SKILL.md' },
  usage: {},
  weight: { listed: 0, body: 0 },
  ...change,
})
const finding = (change: Partial<SkillFinding>): SkillFinding => ({
  ...{ skill: 'release', rule: 'SKILL-02', title: '', severity: 'LOW', file: '', message: '' },
  ...change,
})

test('a filter selects by words of the name and the description, whose it is, its kind and its state', () => {
  const fits = (change: object, of = row()) => fitsFilter(of, { ...everySkill, ...change })
  expect(fits({})).toBe(true)
  expect(fits({ words: 'release CUTS' })).toBe(true)
  expect(fits({ words: 'release none' })).toBe(false)
  expect(fits({ source: 'user' })).toBe(false)
  expect(fits({ source: 'built_in' }, row({ kind: 'built_in', place: {} }))).toBe(true)
  expect(fits({ kind: 'command' })).toBe(false)
  expect(fits({ kind: 'skill' }, row({ kind: 'built_in' }))).toBe(true)
  expect(fits({ condition: 'needs' }, row({ state: 'changed' }))).toBe(true)
  expect(fits({ condition: 'needs' })).toBe(false)
  expect(fits({ condition: 'unusable' }, row({ state: 'hidden' }))).toBe(true)
  expect(fits({ condition: 'found' })).toBe(false)
  expect(fits({ condition: 'found' }, row({ findings: [{ severity: 'LOW', count: 1 }] }))).toBe(
    true,
  )
})

test('a skill that is not built in belongs to the project or to the user', () => {
  expect(sourceOf(row())).toBe('project')
  expect(sourceOf(row({ place: { scope: 'user' } }))).toBe('user')
})

test('findings are counted by severity, and each line has the mark of its gravest one', () => {
  const findings = [
    finding({ line: 3 }),
    finding({ line: 3, severity: 'CRITICAL' }),
    finding({ line: 4, severity: 'HIGH' }),
    finding({}),
  ]
  expect(countFindings(findings)).toEqual([
    { severity: 'CRITICAL', count: 1 },
    { severity: 'HIGH', count: 1 },
    { severity: 'LOW', count: 2 },
  ])
  expect([...markedLines(findings)]).toEqual([
    [3, 'CRITICAL'],
    [4, 'HIGH'],
  ])
})

test('a finding is about the main file of a skill or about another one', () => {
  expect(isInMain(finding({ file: 'SKILL.md' }), row())).toBe(true)
  expect(isInMain(finding({}), row())).toBe(true)
  expect(isInMain(finding({ file: 'references/a.md' }), row())).toBe(false)
  expect(isInMain(finding({ file: 'git/x.md' }), row({ kind: 'command' }))).toBe(true)
})

test('a reference that leads to nothing does so until its line is changed', () => {
  const found = [finding({ rule: 'REF-01', line: 2 }), finding({ line: 2 })]
  const standing = (text: string) =>
    standingReferences(found, 'one\n[two](x.md)', text).map(({ rule, line }) => [rule, line])
  expect(standing('[two](x.md)')).toEqual([['REF-01', 1]])
  expect(standing('one\n[two](y.md)')).toEqual([])
})

test('a line has a place in the text', () => {
  const text = 'one\n\nthree'
  expect([1, 2, 3, 9].map((line) => text.slice(...lineSpan(text, line)))).toEqual([
    'one',
    '',
    'three',
    'three',
  ])
})

test('a name of a command may have parts, a name of a skill may not', () => {
  for (const name of ['a', 'cut-a-release', '2fa']) expect(isSkillName(name, 'skill')).toBe(true)
  for (const name of ['', 'A', 'a b', '-a', 'a-', 'a:b', '../a', 'a'.repeat(65)])
    expect(isSkillName(name, 'skill')).toBe(false)
  expect(isSkillName('git:push', 'command')).toBe(true)
  expect(isSkillName('git::push', 'command')).toBe(false)
})

test('the name of a new skill is in its frontmatter, too', () => {
  const text = '---\ndescription: x\nname: my-skill\n---\nname: of a thing\n'
  expect(withName(text, '$&')).toBe('---\ndescription: x\nname: $&\n---\nname: of a thing\n')
  for (const other of ['', 'name: x', '---\nname: x\n', '---\na: b\n---\nname: x'])
    expect(withName(other, 'y')).toBe(other)
})
