import { fireEvent, screen, waitFor } from '@testing-library/svelte'
import { createRawSnippet, tick } from 'svelte'
import { beforeEach, expect, test, vi } from 'vitest'
import type { Call } from '../api'
import { setLanguage } from '../i18n/i18n.svelte'
import type { PromptEntry } from '../model/entries'
import { announcement } from '../state/announcements.svelte'
import { useClipboard } from '../state/clipboard'
import { Conversation } from '../state/conversation.svelte'
import { readDraft, writeDraft } from '../state/drafts.svelte'
import { renderInApp } from '../ui/testing'
import ActionRow from './ActionRow.svelte'
import { Walk } from './walk.svelte'

const host = vi.hoisted(() => ({
  send: vi.fn(async () => true),
  compose: vi.fn(),
  fork: vi.fn(),
  undo: vi.fn(),
}))
vi.mock(import('./action'), async (original) => ({
  ...(await original()),
  actionsHost: () => host,
}))

let copied: string[] = []

beforeEach(() => {
  setLanguage('en')
  writeDraft('s', '')
  vi.clearAllMocks()
  copied = []
  useClipboard({ copy: async (words) => void copied.push(words) })
})

const prompt: PromptEntry = { type: 'prompt', key: 'e1', seq: 1, turn: 1, text: 'Fix\u202e it' }

function show(state: 'idle' | 'processing' = 'idle') {
  const conversation = new Conversation('s', (async () => ({})) as unknown as Call)
  conversation.log.newest.view = { ...conversation.view, state, entries: [prompt] }
  const leave = vi.fn()
  const walk = new Walk({ rows: () => [prompt], show: () => {}, begin: () => undefined, leave })
  const children = createRawSnippet(() => ({ render: () => '<p>Fix it</p>' }))
  renderInApp(ActionRow, { row: prompt, conversation, walk, children })
  return { walk, leave, conversation }
}

const row = () => screen.getByRole('group', { name: 'Your message: Fix it' })

/** Gives the row the focus. */
async function walked(state: 'idle' | 'processing' = 'idle') {
  const shown = show(state)
  shown.walk.isRoomy = true
  shown.walk.at = 'e1'
  await tick()
  return shown
}

test('a row at rest has no actions and takes no focus', () => {
  show()
  expect(screen.queryByRole('toolbar')).toBeNull()
  expect(screen.queryByRole('group')).toBeNull()
})

test('a pointer that comes back to where it was shows the actions again, one at rest does not', async () => {
  const { walk } = show()
  const pane = document.createElement('div')
  pane.innerHTML = '<p data-item="e1">Fix it</p>'
  document.body.append(pane)
  const detach = walk.attach(pane)
  const at = { clientX: 5, clientY: 5, bubbles: true }
  const move = () => fireEvent(pane.firstElementChild!, new MouseEvent('pointermove', at))
  await move()
  expect(walk.shows('e1')).toBe(true)
  await fireEvent(pane, new MouseEvent('pointerleave'))
  expect(walk.shows('e1')).toBe(false)
  await move()
  expect(walk.shows('e1')).toBe(true)
  void walk.go(0)
  walk.at = undefined
  await move()
  expect(walk.shows('e1')).toBe(false)
  detach?.()
  pane.remove()
})

test('the actions of a row are a toolbar with one tab stop, and name their keys', async () => {
  const { walk } = await walked()
  expect(screen.getByRole('toolbar').getAttribute('aria-label')).toBe('Actions for this message')
  const buttons = screen.getAllByRole('button')
  const facts = () => buttons.map((it) => [it.ariaLabel, it.getAttribute('aria-keyshortcuts')])
  expect(facts()).toEqual([
    ['Copy', 'c'],
    ['Edit and resend', 'e'],
    ['Retry', 'r'],
    ['Fork from here', 'f'],
    ['Rewind to before this message…', 'b'],
  ])
  const stops = () => buttons.map((it) => it.tabIndex)
  expect(stops()).toEqual([0, -1, -1, -1, -1])
  await fireEvent.keyDown(row(), { key: 'ArrowRight' })
  await fireEvent.keyDown(buttons[0]!, { key: 'ArrowRight' })
  expect(document.activeElement).toBe(buttons[1])
  await tick()
  expect(stops()).toEqual([-1, 0, -1, -1, -1])
  await fireEvent.keyDown(buttons[1]!, { key: 'End' })
  await fireEvent.keyDown(buttons[4]!, { key: 'ArrowRight' })
  expect(document.activeElement).toBe(buttons[0])
  // The row has the focus because of something else in it: Tab moves on to that.
  walk.at = undefined
  walk.shows = () => true
  await tick()
  expect(screen.getAllByRole('button').map((it) => it.tabIndex)).toEqual([-1, -1, -1, -1, -1])
})

test('letters do what they name, once at a time, and it is announced', async () => {
  await walked()
  await fireEvent.keyDown(row(), { key: 'C' })
  await screen.findByText('Copied')
  expect(announcement().trim()).toBe('Copied')
  expect(copied).toEqual([prompt.text])
  let accept: (isTaken: boolean) => void = () => {}
  host.send.mockImplementationOnce(() => new Promise((resolve) => (accept = resolve)))
  await fireEvent.keyDown(row(), { key: 'r' })
  await fireEvent.keyDown(row(), { key: 'r' })
  accept(true)
  await waitFor(() => expect(host.compose).toHaveBeenCalled())
  expect(host.send.mock.calls).toEqual([[prompt.text, undefined]])
})

test.each<[string, KeyboardEventInit]>([
  ['with Ctrl', { ctrlKey: true }],
  ['in an input method', { isComposing: true }],
])('a letter %s is left alone', async (_, keys) => {
  await walked()
  expect(await fireEvent.keyDown(row(), { key: 'c', ...keys })).toBe(true)
  expect(copied).toEqual([])
})

test('a letter inside of the row is not an action, and nothing is sent while a turn runs', async () => {
  await walked('processing')
  await fireEvent.keyDown(screen.getByText('Fix it'), { key: 'e' })
  expect(readDraft('s')).toBe('')
  expect(screen.queryByRole('button', { name: 'Retry' })).toBeNull()
  await fireEvent.keyDown(row(), { key: 'r' })
  expect(host.send).not.toHaveBeenCalled()
})

test('a refusal of the clipboard is shown beside the row', async () => {
  useClipboard({ copy: () => Promise.reject(new Error('denied')) })
  await walked()
  await fireEvent.keyDown(row(), { key: 'c' })
  await screen.findByText(/^The clipboard refused the text/)
})

test('Escape leaves the list, and stops nothing', async () => {
  const { leave } = await walked()
  expect(await fireEvent.keyDown(row(), { key: 'Escape' })).toBe(false)
  expect(leave).toHaveBeenCalledOnce()
})
