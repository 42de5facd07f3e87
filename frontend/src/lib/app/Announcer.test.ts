import { render, screen } from '@testing-library/svelte'
import { tick } from 'svelte'
import { beforeEach, expect, test } from 'vitest'
import type { Call } from '../api'
import { Conversation } from '../state/conversation.svelte'
import { Log } from '../model/testing'
import { apply } from '../model/reducer'
import { setLanguage } from '../i18n/i18n.svelte'
import type { Outcome } from '../types.gen'
import Announcer from './Announcer.svelte'
import type { Workbench } from '../state/workbench.svelte'

beforeEach(() => setLanguage('en'))

// COM-93: screen readers hear that a compaction runs, not a turn.
test.each<[Outcome, string]>([
  ['done', 'The conversation is compacted'],
  ['failed', 'The conversation was not compacted'],
  ['interrupted', 'The conversation was not compacted'],
])('a compaction that ended as %s is announced as: %s', async (outcome, words) => {
  const conversation = new Conversation('s', (async () => ({})) as unknown as Call)
  const bench = { conversation, agents: { questions: () => [] } } as unknown as Workbench
  render(Announcer, { bench })
  const log = new Log()
  const follow = async () => {
    conversation.log.newest.view = apply(conversation.view, [log.events.at(-1)!])
    await tick()
  }
  log.add('compaction_start', { trigger: 'manual', tokens: 9000 })
  await follow()
  screen.getByText('The conversation is being compacted')
  const tokens = { tokens_before: 9000, tokens_after: 700, duration_ms: 1 }
  log.add('compaction_end', { trigger: 'manual', outcome, ...tokens })
  await follow()
  screen.getByText(words)
})

test('a session that is opened while another one works is not announced as done', async () => {
  const conversationOf = (id: string) => new Conversation(id, (async () => ({})) as unknown as Call)
  const [working, idle] = [conversationOf('w'), conversationOf('i')]
  const log = new Log()
  log.add('user_input', { text: 'Go' })
  working.log.newest.view = apply(working.view, log.events)
  const benchOf = (conversation: Conversation) =>
    ({ conversation, agents: { questions: () => [] } }) as unknown as Workbench
  const { rerender } = render(Announcer, { bench: benchOf(working) })
  await tick()
  screen.getByText('The agent is working')
  await rerender({ bench: benchOf(idle) })
  expect(screen.queryByText(/^The agent is/)).toBeNull()
})
