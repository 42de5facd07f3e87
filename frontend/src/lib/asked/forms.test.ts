import { fireEvent, render, screen } from '@testing-library/svelte'
import { flushSync } from 'svelte'
import { beforeEach, expect, test, vi } from 'vitest'
import { setLanguage } from '../i18n/i18n.svelte'
import type { ApprovalRequest } from '../types.gen'
import { renderInApp } from '../ui/testing'
import OneQuestion from './OneQuestion.svelte'
import PlanForm from './PlanForm.svelte'

beforeEach(() => setLanguage('en'))

test('a chosen radio button takes its choice back when it is pressed again', async () => {
  const option = (label: string) => ({ label, description: '', preview: '' })
  const question = {
    question: 'Which?',
    header: '',
    several: false,
    options: [option('a'), option('b')],
  }
  const onchange = vi.fn()
  const props = { question, numbered: true, onchange }
  const { rerender } = render(OneQuestion, { ...props, reply: { chosen: [], text: '' } })
  const radio = screen.getByRole<HTMLInputElement>('radio', { name: /a/ })
  for (const chosen of [['a'], []]) {
    await fireEvent.click(radio)
    expect(onchange).toHaveBeenLastCalledWith({ chosen, text: '' })
    await rerender({ reply: { chosen, text: '' } })
    expect(radio.checked).toBe(chosen.length > 0)
  }
})

test('a plan can be cleared and written anew, and an empty one is not approved', async () => {
  const onanswer = vi.fn()
  const request = {
    id: 'r',
    call_id: 'c',
    tool: 'ExitPlanMode',
    input: '{"plan":"One."}',
    reason: '',
    access: {},
  } as ApprovalRequest
  renderInApp(PlanForm, { request, session: 's', sent: false, onanswer, takes: () => true })
  await fireEvent.click(screen.getByRole('button', { name: 'Edit' }))
  const text = screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'The plan' })
  await fireEvent.input(text, { target: { value: '' } })
  flushSync()
  expect(text.value).toBe('')
  const approve = screen.getByRole('button', { name: 'Approve' })
  await fireEvent.click(approve)
  expect(onanswer).not.toHaveBeenCalled()
  await fireEvent.input(text, { target: { value: 'Two.' } })
  await fireEvent.click(approve)
  expect(onanswer.mock.lastCall![0]).toMatchObject({ reply: '{"plan":"Two."}' })
})
