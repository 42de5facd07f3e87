import { render, screen } from '@testing-library/svelte'
import { beforeEach, test } from 'vitest'
import { setLanguage } from '../i18n/i18n.svelte'
import type { ToolEntry } from '../model/entries'
import type { SkillUse } from '../types.gen'
import SkillBody from './SkillBody.svelte'

beforeEach(() => setLanguage('en'))

function show(skill: SkillUse | undefined, output = '', args?: unknown) {
  const input = JSON.stringify({ skill: 'knit', args })
  render(SkillBody, { call: { input, output, details: { skill } } as unknown as ToolEntry })
}

test('a skill that began says what it limits, where it is from and what it was told', () => {
  const use = { name: 'knit\u202e', file: 'knit/SKILL.md', limited: true, tools: ['Read'] }
  show(use, '', 'a scarf\u202e')
  screen.getByText('The agent began the skill knit⟨U+202E⟩ · only Read · knit/SKILL.md')
  screen.getByText('a scarf⟨U+202E⟩')
})

test('a skill without limits says so', () => {
  show({ name: 'knit' })
  screen.getByText('The agent began the skill knit · any tool')
})

test('a skill that ended says nothing else', () => {
  show({ name: 'knit', file: 'knit/SKILL.md', ended: true })
  screen.getByText('The agent ended the skill knit')
})

test('a call that began no skill shows its output', () => {
  show(undefined, 'There is no such skill.')
  screen.getByText('There is no such skill.')
})
