import { afterEach, expect, test } from 'vitest'
import { setLanguage } from '../i18n/i18n.svelte'
import type { SkillFinding, SkillRow } from '../types.gen'
import { findingWords, limitWords, stateWords } from './words'

afterEach(() => setLanguage('en'))

const finding: SkillFinding = {
  ...{ skill: 'a', rule: 'SKILL-06', severity: 'MEDIUM', file: 'SKILL.md' },
  title: 'the description is too long',
  message: 'The description has 2000 characters.',
  args: ['2000'],
}

test('a finding is in the language of the page, worded by its rule and its arguments', () => {
  expect(findingWords(finding)).toMatchObject({ title: 'The description is too long', fix: '' })
  setLanguage('zh-CN')
  expect(findingWords(finding).message).toBe('描述有 2000 个字符，最多 1,024 个。')
  expect(findingWords({ ...finding, args: [] }).title).toBe('描述没有说明何时使用')
  expect(findingWords({ ...finding, rule: 'NEW-01' }).message).toBe(finding.message)
})

test('hidden characters in a file’s text are made visible', () => {
  const { message } = findingWords({ ...finding, message: 'a\u202eb' })
  expect(message).toBe('a⟨U+202E⟩b')
  const row = { state: 'hidden', others: ['x\u200b'], usage: {} } as unknown as SkillRow
  expect(stateWords(row)).toBe('not used: x⟨U+200B⟩ has the same name')
})

test('the reason why a skill does not apply is in the language of the page', () => {
  const why = 'the folder has none of go.mod, Cargo.toml'
  const row = { state: 'unavailable', usage: { why } } as unknown as SkillRow
  expect(stateWords(row)).toBe(`not here: ${why}`)
  setLanguage('zh-CN')
  expect(stateWords(row)).toBe('在此不可用：文件夹中没有以下任何一个：go.mod、Cargo.toml')
})

test('a list of unknown tools means none, and no list means all', () => {
  expect(limitWords({})).toEqual(['All tools can be called.'])
  expect(limitWords({ limited: true })).toEqual(['No tool can be called.'])
  expect(limitWords({ limited: true, tools: ['Read', 'Bash(git *)'], model: 'haiku' })).toEqual([
    'Only these tools can be called: Read and Bash(git *).',
    'The model is haiku.',
  ])
})
