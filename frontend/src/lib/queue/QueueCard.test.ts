import { fireEvent, screen } from '@testing-library/svelte'
import { tick } from 'svelte'
import { beforeEach, expect, test, vi } from 'vitest'
import { readDraft, writeDraft } from '../state/drafts.svelte'
import { setLanguage } from '../i18n/i18n.svelte'
import type { Queued } from '../types.gen'
import { renderInApp } from '../ui/testing'
import QueueCard from './QueueCard.svelte'

const message: Queued = { id: 'q', verb: 'steer', text: 'Use short names' }

beforeEach(() => {
  setLanguage('en')
  writeDraft('q', '')
})

function show(isTaken = true, of = message) {
  const ontakeback = vi.fn()
  const onedit = vi.fn(async () => isTaken)
  const onmove = vi.fn()
  const props = {
    message: of,
    ontakeback,
    draft: 'q',
    delivery: 'then',
    lifted: false,
    onedit,
    onmove,
    onremove: () => {},
    ongrab: () => {},
  }
  renderInApp(QueueCard, props)
  return { onedit, onmove, ontakeback }
}

async function edit(text: string, key: string) {
  await fireEvent.click(screen.getByRole('button', { name: 'Edit: Use short names' }))
  const field = screen.getByRole('textbox', { name: 'Queued message' })
  await fireEvent.input(field, { target: { value: text } })
  const isUnused = await fireEvent.keyDown(field, { key })
  await tick()
  return isUnused
}

test('Enter saves an edit', async () => {
  const { onedit } = show()
  await edit(' Use long names ', 'Enter')
  expect(onedit).toHaveBeenCalledWith({ ...message, text: 'Use long names' })
  expect(screen.queryByRole('textbox')).toBeNull()
})

test('Escape cancels the edit and does not stop the turn', async () => {
  const { onedit } = show()
  expect(await edit('Never mind', 'Escape')).toBe(false)
  expect(onedit).not.toHaveBeenCalled()
  expect(readDraft('q')).toBe('')
})

test('an edit that is rejected or empty stays open', async () => {
  const { onedit } = show(false)
  await edit('', 'Enter')
  expect(onedit).not.toHaveBeenCalled()
  const field = screen.getByRole<HTMLTextAreaElement>('textbox')
  await fireEvent.input(field, { target: { value: 'Other' } })
  await fireEvent.keyDown(field, { key: 'Enter' })
  await tick()
  expect(screen.getByRole<HTMLTextAreaElement>('textbox').value).toBe('Other')
})

test('an edit continues after a reload', () => {
  writeDraft('q', 'Use shor')
  show()
  expect(screen.getByRole<HTMLTextAreaElement>('textbox').value).toBe('Use shor')
})

test('a click changes the verb, and the arrow keys move the message', async () => {
  const { onedit, onmove } = show()
  await fireEvent.click(screen.getByRole('button', { name: 'Steer' }))
  expect(onedit).toHaveBeenCalledWith({ ...message, verb: 'follow_up' })
  const grip = screen.getByRole('button', { name: 'Move: Use short names' })
  await fireEvent.keyDown(grip, { key: 'ArrowDown' })
  await fireEvent.keyDown(grip, { key: 'ArrowUp' })
  expect(onmove.mock.calls).toEqual([[1], [-1]])
})

test('a skill shows what was typed, follows, and is edited in the message field', async () => {
  const skill = { name: 'review', by_user: true }
  const text = 'Review the changes since main.'
  const { onedit, ontakeback } = show(true, {
    id: 'q',
    verb: 'follow_up',
    text,
    typed: '/review main',
    skill,
  })
  expect(screen.getByText('/review main')).toBeTruthy()
  expect(screen.queryByText(text)).toBeNull()
  expect(screen.queryByRole('button', { name: /steer/ })).toBeNull()
  await fireEvent.click(screen.getByRole('button', { name: 'Edit: /review main' }))
  expect(ontakeback).toHaveBeenCalledOnce()
  expect([screen.queryByRole('textbox'), onedit.mock.calls.length]).toEqual([null, 0])
})
