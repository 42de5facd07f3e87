import { fireEvent, screen, waitFor } from '@testing-library/svelte'
import { beforeEach, expect, test, vi } from 'vitest'
import type { Call } from '../api'
import { setLanguage } from '../i18n/i18n.svelte'
import { Undo } from '../state/undo.svelte'
import type { UndoFile, UndoPreview, UndoTarget } from '../types.gen'
import { renderInApp } from '../ui/testing'
import UndoDialog from './UndoDialog.svelte'

beforeEach(() => setLanguage('en'))

const file = (path: string, more: Partial<UndoFile> = {}): UndoFile => ({
  path,
  effect: 'changes',
  restorable: true,
  seal: 'x',
  binary: true,
  ...more,
})

const conflict = file('shared.txt', {
  reason: 'changed',
  places: 1,
  conflicts: [{ was: 'theirs\n', now: 'mine\u202e\n', would: 'first\n' }],
})

async function show(preview: Partial<UndoPreview>, target: UndoTarget = {}) {
  const call = vi.fn(async () => ({ target, ...preview }))
  const undo = new Undo(call as unknown as Call)
  const ondone = vi.fn()
  renderInApp(UndoDialog, { undo, ondone })
  await undo.ask({ session: 's', target })
  await screen.findByRole('dialog')
  return { undo, call, ondone }
}

const button = (name: string | RegExp) => screen.findByRole('button', { name })
const hasFocus = async (name: string) => {
  const element = await button(name)
  await waitFor(() => expect(document.activeElement).toBe(element))
}

test('the dialog says what happens to each file, and what cannot be undone', async () => {
  const { call, ondone } = await show({
    files: [
      file('a'),
      file('b', { effect: 'removes' }),
      file('c', { effect: 'brings_back' }),
      file('d', { effect: 'mode' }),
      file('e', { effect: 'nothing', restorable: false }),
      file('f', { restorable: false, reason: 'unkept' }),
    ],
    more: 2,
    unwatched: true,
  })
  for (const name of [/^a is restored/, /^b is removed/, /^c is brought back/, /^d becomes exec/]) {
    expect(screen.getByRole<HTMLInputElement>('checkbox', { name }).checked).toBe(true)
  }
  for (const name of [/^e stays as it is/, /^f/]) {
    expect(screen.getByRole<HTMLInputElement>('checkbox', { name }).disabled).toBe(true)
  }
  screen.getByText('The journal does not have its contents.')
  screen.getByText('2 more changes were not recorded and cannot be undone.')
  screen.getByText(/Other changes may have been missed/)
  await fireEvent.click(screen.getByRole('checkbox', { name: /^a/ }))
  await fireEvent.click(await button('Undo 3 files'))
  await waitFor(() => expect(ondone).toHaveBeenCalled())
  expect(call).toHaveBeenLastCalledWith('undo.apply', expect.anything())
})

test('a rewind shows the message, which comes back with the conversation alone', async () => {
  const call = vi.fn(async () => ({ target: { since: 2 }, files: [file('a')] }))
  const undo = new Undo(call as unknown as Call)
  renderInApp(UndoDialog, { undo, ondone: () => {} })
  await undo.ask({ session: 's', target: { since: 2 }, rewind: 2, message: 'Go \u202eon' })
  await screen.findByText('Go ⟨U+202E⟩on')
  screen.getByText(/^The message comes back/)
  await fireEvent.click(screen.getByRole('radio', { name: 'Files only' }))
  await waitFor(() => expect(screen.queryByText(/^The message comes back/)).toBeNull())
})

test('without a conflict the button that undoes has the focus', async () => {
  await show({ files: [file('a')] })
  await hasFocus('Undo 1 file')
})

test('a conflict is shown, is left as it is, and does not lead to the button that undoes', async () => {
  const { undo } = await show({ files: [file('a'), conflict] })
  await hasFocus('Cancel')
  const rest = screen.getByRole<HTMLInputElement>('checkbox', {
    name: /^shared.txt Restore the rest/,
  })
  expect(rest.checked).toBe(false)
  screen.getByText('1 place was changed since, and stays as it is.')
  for (const text of ['theirs', 'mine⟨U+202E⟩', 'first']) screen.getByText(text)
  await fireEvent.click(rest)
  expect(undo.chosen.get('shared.txt')).toEqual({ path: 'shared.txt', seal: 'x', rest: true })
  // The choice keeps the focus where it is.
  await button('Undo 2 files')
  await hasFocus('Cancel')
})

test('a rewind leaves files alone unless that is chosen, each time', async () => {
  const { undo } = await show({ files: [file('a')] })
  const isChosen = (name: string) => screen.getByRole<HTMLInputElement>('radio', { name }).checked
  for (const resend of [undefined, { text: 'better' }]) {
    await undo.ask({ session: 's', target: { since: 2 }, rewind: 2, ...(resend && { resend }) })
    await screen.findByRole('radio', { name: 'Conversation only' })
    expect(isChosen('Conversation only')).toBe(true)
    expect(screen.queryByRole('radio', { name: 'Files only' }) === null).toBe(Boolean(resend))
    await fireEvent.click(screen.getByRole('radio', { name: 'Conversation and files' }))
    expect(isChosen('Conversation and files')).toBe(true)
  }
})

test('the dialog says that there is nothing to redo, and offers nothing else', async () => {
  await show({}, { redo: true })
  screen.getByText('There is nothing to redo.')
  expect((await button('Redo 0 files')).hasAttribute('disabled')).toBe(true)
  await hasFocus('Cancel')
})
