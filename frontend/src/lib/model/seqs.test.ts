import { expect, test } from 'vitest'
import { emptyView } from './entries'
import { apply } from './reducer'
import { noFolds, Rows, withFold } from './rows'
import { seqFrom, seqOf } from './seqs'
import { Log, noUsage, sampleTurn } from './testing'

test('an entry is where its event is in the log', () => {
  const { entries } = apply(emptyView, sampleTurn().durable)
  // The prompt, the message, the call by its end, and the end of the turn.
  expect(entries.map(seqOf)).toEqual([1, 2, 6, 7])
  const log = new Log()
  log.add('assistant_text_delta', { text: 'still', offset: 0 })
  expect(apply(emptyView, log.events).entries.map(seqOf)).toEqual([undefined])
})

test('a folded turn is where it ends for a search backwards, and where it begins for one forwards', () => {
  const log = new Log()
  log.add('user_input', { text: 'Read them' })
  for (const id of ['c1', 'c2', 'c3']) {
    const end = { output: '', outcome: 'done', duration_ms: 1 } as const
    log.add('tool_call_end', { call_id: id, tool: 'Read', ...end })
  }
  log.add('processing_end', { reason: 'done', rounds: 1, usage: noUsage })
  log.add('assistant_text_delta', { text: 'still', offset: 0 })
  const { entries } = apply(emptyView, log.events)
  const folded = new Rows().of(entries, '', noFolds)
  expect(folded.map(({ type }) => type)).toEqual(['prompt', 'fold', 'answer'])
  expect([seqFrom(folded, 1, true), seqFrom(folded, 1, false)]).toEqual([5, 1])
  const open = new Rows().of(entries, '', withFold(noFolds, folded[1]!.key, true))
  expect(open[2]!.type).toBe('group')
  expect([seqFrom(open, 2, true), seqFrom(open, 2, false)]).toEqual([4, 2])
  expect(seqFrom(folded, 2, true)).toBeUndefined()
})
