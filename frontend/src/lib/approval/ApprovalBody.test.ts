import { fireEvent, render, screen } from '@testing-library/svelte'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { setLanguage } from '../i18n/i18n.svelte'
import type { Answer, ApprovalRequest } from '../types.gen'
import ApprovalBody from './ApprovalBody.svelte'

const request: ApprovalRequest = {
  id: 'a1',
  call_id: 'c1',
  tool: 'Bash',
  input: '{"command":"rm -rf dist \\u202e# safe","timeout":5}',
  reason: 'The command removes files.',
  access: { command: 'rm -rf dist \u202e# safe' },
}

beforeEach(() => {
  vi.useFakeTimers()
  setLanguage('en')
})
afterEach(() => vi.useRealTimers())

function ask() {
  const answers: Answer[] = []
  render(ApprovalBody, { request, onanswer: (answer) => answers.push(answer) })
  const card = screen.getByRole('region')
  card.focus()
  return { answers, card, press: (key: string) => fireEvent.keyDown(card, { key }) }
}

test('shows the whole command and the rest of the input, hiding nothing', () => {
  const { card } = ask()
  expect(card.textContent).toContain('rm -rf dist ⟨U+202E⟩# safe')
  expect(card.textContent).toContain('"timeout": 5')
})

test('shows where the command runs if that is not the working directory', () => {
  const { card } = ask()
  expect(card.textContent).not.toContain('in /')
  const elsewhere = {
    ...request,
    input: '{"command":"make install","workdir":"../other\\u202e"}',
    access: { command: 'make install', dir: '/home/me/other\u202e' },
  }
  render(ApprovalBody, { request: elsewhere, onanswer: () => {} })
  const shown = screen.getAllByRole('region')[1]!.textContent
  expect(shown).toContain('in /home/me/other⟨U+202E⟩')
  expect(shown).not.toContain('workdir')
})

test('shows typed input once, and the command that gets it', () => {
  const typed = {
    ...request,
    tool: 'WriteStdin',
    input: '{"id":"3","chars":"rm -r x\\n"}',
    access: { command: 'rm -r x\n', task: '3' },
  }
  render(ApprovalBody, { request: typed, onanswer: () => {} })
  const shown = screen.getByRole('region').textContent
  expect(shown.split('rm -r x').length - 1).toBe(1)
  expect(shown).toContain('"id": "3"')
})

test('shows every file that changes', () => {
  const changes = [
    { path: 'a.go', added: 1, removed: 0, diff: '@@ -0,0 +1 @@\n+new line\n' },
    { path: 'b.go', moved_to: 'sub/b.go', added: 0, removed: 0, diff: '' },
    { path: 'c.go', deleted: true, added: 0, removed: 1, diff: '@@ -1 +0,0 @@\n-old line\n' },
  ]
  render(ApprovalBody, { request: { ...request, changes }, onanswer: () => {} })
  const shown = screen.getByRole('region').textContent.replace(/\s+/g, ' ')
  for (const part of ['a.go', 'new line', 'b.go → sub/b.go', 'c.go', 'deleted', 'old line']) {
    expect(shown).toContain(part)
  }
})

test('letters decide only after a period without typing', async () => {
  const { answers, press } = ask()
  await press('a')
  vi.advanceTimersByTime(399)
  await press('d')
  vi.advanceTimersByTime(399)
  await press('a')
  expect(answers).toEqual([])
  vi.advanceTimersByTime(400)
  await press('s')
  expect(answers).toEqual([{ decision: 'allow', scope: 'session' }])
})

test('only the first answer counts', async () => {
  const { answers, press } = ask()
  vi.advanceTimersByTime(500)
  await press('a')
  await press('d')
  expect(answers).toEqual([{ decision: 'allow', scope: 'once' }])
})

test('the second click of a double click does not answer the next question', async () => {
  const { answers } = ask()
  const allow = screen.getByRole('button', { name: 'Allow' })
  await fireEvent.click(allow, { detail: 2 })
  expect(answers).toEqual([])
  await fireEvent.click(allow, { detail: 1 })
  expect(answers).toEqual([{ decision: 'allow', scope: 'once' }])
})

test('Escape denies, even during the quiet period', async () => {
  const { answers, press } = ask()
  await press('Escape')
  expect(answers).toEqual([{ decision: 'deny' }])
})

test('typing feedback does not answer, and the denial includes the feedback', async () => {
  const { answers } = ask()
  vi.advanceTimersByTime(500)
  await fireEvent.click(screen.getByRole('button', { name: 'Deny with feedback…' }))
  const field = screen.getByRole('textbox')
  await fireEvent.keyDown(field, { key: 'a' })
  await fireEvent.input(field, { target: { value: 'use trash' } })
  expect(answers).toEqual([])
  await fireEvent.submit(field.closest('form')!)
  expect(answers).toEqual([{ decision: 'deny', feedback: 'use trash' }])
})
