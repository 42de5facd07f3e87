import { fireEvent, screen } from '@testing-library/svelte'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import type { Call } from '../api'
import { contextDialog } from '../conversation/part'
import { Conversation } from '../state/conversation.svelte'
import { emptyView, type View } from '../model/entries'
import { Log, message, noUsage, text } from '../model/testing'
import { apply } from '../model/reducer'
import { setLanguage } from '../i18n/i18n.svelte'
import type { Usage } from '../types.gen'
import { renderInApp } from '../ui/testing'
import Filling from './Filling.svelte'
import type { Workbench } from '../state/workbench.svelte'

beforeAll(() => contextDialog.need())
beforeEach(() => setLanguage('en'))

const breakdown = {
  provider: 'own',
  model: 'm',
  window: 100_000,
  used: 20_000,
  counted: true,
  added: 1500,
  reserved: 20_000,
  parts: [
    { kind: 'system', tokens: 4000 },
    { kind: 'results', tokens: 17_500 },
  ],
}

function answered(usage: Usage): View {
  const log = new Log()
  log.add('user_input', { text: 'Go' })
  log.add('assistant_text_end', { ...message([text('Gone.')]), usage })
  return apply(emptyView, log.events)
}

function show(view: View) {
  const conversation = new Conversation('s', (async () => breakdown) as unknown as Call)
  conversation.log.newest.view = view
  const bench = {
    conversation,
    tasks: { running: () => 0 },
    agents: { find: () => undefined },
    sessions: { find: () => undefined },
    branches: {},
    aside: { session: '' },
    runs: { session: '' },
    work: { isOpen: false },
    settings: { provider: 'own', model: 'm', mode: 'default' },
    catalog: { providers: [], model: () => ({ context_window: 100_000 }) },
  } as unknown as Workbench
  renderInApp(Filling, { bench, oncost: () => {} })
  return screen.getByRole('button', { name: /^What fills the context/ })
}

// COM-93: a conversation can be compacted even if its endpoint does not report usage.
test.each<[string, Usage, string, string]>([
  [
    'known',
    { ...noUsage, input: 20_000, known: true },
    '20%',
    '20%, 20.0 k of 100.0 k tokens in context',
  ],
  ['unknown', noUsage, 'Context size unknown', 'Context size unknown'],
])('an answered conversation of %s size can be compacted', async (_, usage, figure, label) => {
  const meter = show({ ...answered(usage), state: 'idle' })
  expect(meter.textContent?.trim()).toBe(figure)
  expect(meter.getAttribute('aria-label')).toBe(`What fills the context: ${label}`)
  await fireEvent.click(meter)
  screen.getByRole('dialog', { name: 'Context' })
  const compact = screen.getByRole('button', { name: 'Compact' })
  expect((compact as HTMLButtonElement).disabled).toBe(false)
})

test('the meter opens a list of what fills the context', async () => {
  await fireEvent.click(show(answered({ ...noUsage, input: 20_000, known: true })))
  await screen.findByText(/The provider counted the total/)
  screen.getByText(/About 1\.5 k more tokens were added since/)
  const rows = screen.getAllByRole('row').slice(1)
  const cells = (row: HTMLElement) => [...row.children].map((cell) => cell.textContent).join(' ')
  expect(rows.map(cells)).toEqual([
    'System prompt ≈ 4.0 k 4%',
    'Tool results ≈ 17.5 k 18%',
    'Free ≈ 58.5 k 59%',
    'Reserved for compaction 20.0 k 20%',
  ])
})

test('a conversation without an answer has a context, but nothing to compact', async () => {
  const log = new Log()
  log.add('user_input', { text: 'Go' })
  log.add('assistant_text_delta', { text: 'Go', offset: 0 })
  const meter = show({ ...apply(emptyView, log.events), state: 'idle' })
  expect(meter.textContent?.trim()).toBe('Context')
  await fireEvent.click(meter)
  screen.getByText('There is nothing to summarise yet.')
  const compact = screen.getByRole('button', { name: 'Compact' })
  expect((compact as HTMLButtonElement).disabled).toBe(true)
})
