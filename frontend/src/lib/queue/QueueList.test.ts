import { screen } from '@testing-library/svelte'
import { beforeEach, test } from 'vitest'
import type { Call } from '../api'
import { Conversation } from '../state/conversation.svelte'
import { emptyView } from '../model/entries'
import { Log, noUsage } from '../model/testing'
import { apply } from '../model/reducer'
import { setLanguage } from '../i18n/i18n.svelte'
import type { EndReason, Outcome } from '../types.gen'
import { renderInApp } from '../ui/testing'
import QueueList from './QueueList.svelte'

beforeEach(() => setLanguage('en'))

function turn(log: Log, reason: EndReason) {
  log.add('user_input', { text: 'Go' })
  log.add('processing_end', { reason, rounds: 0, usage: noUsage })
}

function command(log: Log, outcome: Outcome) {
  const start = { id: 'l1', command: 'make' }
  log.add('local_command_start', start)
  log.add('local_command_end', { ...start, output: '', outcome, duration_ms: 1 })
}

function compaction(log: Log, outcome: Outcome) {
  const tokens = { tokens_before: 9000, tokens_after: 9000, duration_ms: 1 }
  log.add('compaction_start', { trigger: 'manual', tokens: 9000 })
  log.add('compaction_end', { trigger: 'manual', outcome, ...tokens })
}

// LOOP-133, COM-93: a card says what holds it back.
test.each<[EndReason, string, (log: Log) => void, RegExp]>([
  ['done', 'nothing', () => {}, /the agent was already done/],
  [
    'done',
    'a stopped command',
    (log) => command(log, 'interrupted'),
    /the command did not end by itself/,
  ],
  [
    'done',
    'a failed compaction',
    (log) => compaction(log, 'failed'),
    /the conversation was not compacted/,
  ],
  [
    'interrupted',
    'a stopped compaction',
    (log) => compaction(log, 'interrupted'),
    /the conversation was not compacted/,
  ],
  ['interrupted', 'a compaction', (log) => compaction(log, 'done'), /the turn was stopped/],
  ['failed', 'a command', (log) => command(log, 'done'), /the turn failed/],
])('after a turn that ended as %s and %s, a message waits', (reason, _, then, words) => {
  const log = new Log()
  turn(log, reason)
  then(log)
  const conversation = new Conversation('s', (async () => ({})) as unknown as Call)
  conversation.log.newest.view = apply(emptyView, log.events)
  conversation.queue.load([{ id: 'q', verb: 'follow_up', text: 'Then test' }], 0)
  renderInApp(QueueList, { conversation, onleave: () => {} })
  screen.getByText(words)
})
