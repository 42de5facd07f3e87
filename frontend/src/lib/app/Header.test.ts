import { fireEvent, screen } from '@testing-library/svelte'
import { beforeEach, expect, test } from 'vitest'
import type { Call } from '../api'
import { Conversation } from '../conversation/conversation.svelte'
import { emptyView, type View } from '../conversation/entries'
import { Log, message, noUsage, text } from '../conversation/events'
import { apply } from '../conversation/reducer'
import { setLanguage } from '../i18n/i18n.svelte'
import type { Usage } from '../types.gen'
import { renderInApp } from '../ui/testing'
import Header from './Header.svelte'
import type { Workbench } from './workbench.svelte'

beforeEach(() => setLanguage('en'))

function answered(usage: Usage): View {
  const log = new Log()
  log.add('user_input', { text: 'Go' })
  log.add('assistant_text_end', { ...message([text('Gone.')]), usage })
  return apply(emptyView, log.events)
}

function show(view: View) {
  const conversation = new Conversation('s', (async () => ({})) as unknown as Call)
  conversation.view = view
  const bench = {
    conversation,
    tasks: { running: () => 0 },
    agents: { find: () => undefined },
    settings: { provider: 'own', model: 'm', mode: 'default' },
    catalog: { providers: [], model: () => ({ context_window: 100_000 }) },
  } as unknown as Workbench
  const nothing = () => {}
  const handlers = { onsidebar: nothing, onpanel: nothing, oncost: nothing, ontasks: nothing }
  renderInApp(Header, { bench, sidebar: true, panel: true, ...handlers })
  return screen.queryByRole('button', { name: /^Compact the conversation/ })
}

// COM-93: an endpoint that reports no usage does not take away the way to compact by hand.
test.each<[string, Usage, string, string]>([
  [
    'known',
    { ...noUsage, input: 20_000, known: true },
    '20 %',
    '20.0 k of 100.0 k tokens in context',
  ],
  ['unknown', noUsage, 'Context size unknown', 'Context size unknown'],
])('an answered conversation of %s size can be compacted', async (_, usage, figure, label) => {
  const meter = show(answered(usage))!
  expect(meter.textContent?.trim()).toBe(figure)
  expect(meter.getAttribute('aria-label')).toBe(`Compact the conversation: ${label}`)
  await fireEvent.click(meter)
  screen.getByRole('dialog', { name: 'Compact the conversation' })
})

test('one without an answer cannot', () => {
  const log = new Log()
  log.add('user_input', { text: 'Go' })
  log.add('assistant_text_delta', { text: 'Go', offset: 0 })
  expect(show(apply(emptyView, log.events))).toBeNull()
})
