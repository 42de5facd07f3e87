import { fireEvent, render, screen } from '@testing-library/svelte'
import { expect, test, vi } from 'vitest'
import { beginEdit, draftOwner, endEdit, readDraft, writeDraft } from '../state/drafts.svelte'
import type { Workbench } from '../state/workbench.svelte'
import type { SkillRow } from '../types.gen'
import TrySkill from './TrySkill.svelte'

const row = { id: 'a', name: 'release', state: 'ready', usage: { by_user: true } } as SkillRow

function shown(of: SkillRow = row) {
  const skills = { onuse: vi.fn(), try: vi.fn(async () => ({ prompt: 'Cut\u202e it.' })) }
  const bench = { skills, conversation: { id: 'try' } } as unknown as Workbench
  render(TrySkill, { bench, row: of })
  return skills
}

test('a skill is put before what is written, in place of another command', async () => {
  const skills = shown()
  const use = screen.getByRole('button', { name: 'Use in this session' })
  const uses = async (written: string) => {
    writeDraft('try', written)
    await fireEvent.click(use)
    return readDraft('try')
  }
  expect(await uses('')).toBe('/release ')
  expect(await uses('the shop')).toBe('/release the shop')
  expect(await uses('/review the shop')).toBe('/release the shop')
  await fireEvent.input(screen.getByRole('textbox'), { target: { value: ' 1.2 ' } })
  expect(await uses('')).toBe('/release 1.2')
  expect(skills.onuse).toHaveBeenCalledTimes(4)
})

test('while a sent prompt is edited, a skill is put before that prompt', async () => {
  shown()
  writeDraft('try', 'unsent')
  beginEdit('try', 2, 'the shop')
  await fireEvent.click(screen.getByRole('button', { name: 'Use in this session' }))
  expect(readDraft(draftOwner('try'))).toBe('/release the shop')
  endEdit('try')
  expect(readDraft('try')).toBe('unsent')
})

test('the prompt is shown with its arguments, and hides nothing', async () => {
  const skills = shown()
  await fireEvent.input(screen.getByRole('textbox'), { target: { value: '1.2' } })
  await fireEvent.click(screen.getByRole('button', { name: 'Show the prompt' }))
  await screen.findByText(/⟨U\+202E⟩/)
  expect(skills.try).toHaveBeenCalledWith({ id: 'a', args: '1.2' })
})

test('a skill that cannot be used is not put into the message', () => {
  shown({ ...row, state: 'untrusted' })
  expect(screen.queryByRole('button', { name: 'Use in this session' })).toBeNull()
})
