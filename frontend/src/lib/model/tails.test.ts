import { expect, test } from 'vitest'
import { emptyView } from './entries'
import { Log, message, text } from './testing'
import { apply, applyDraft, draftOf } from './reducer'
import { joined, newest } from './tails'

test.each([
  ['continues', 'Hel', 0, { text: 'lo', offset: 3 }, { text: 'Hello', from: 0 }],
  ['overlaps', 'Hel', 0, { text: 'ello', offset: 1 }, { text: 'Hello', from: 0 }],
  [
    'continues a text whose beginning was dropped',
    'Hel',
    100,
    { text: 'lo', offset: 103 },
    { text: 'Hello', from: 100 },
  ],
  ['leaves a gap', 'Hel', 100, { text: 'lo', offset: 104 }, undefined],
])('a delta that %s', (_, held, from, delta, want) => {
  expect(joined(held, from, delta)).toEqual(want)
})

test('a live answer keeps the newest part of a long text, and a draft continues it', () => {
  const piece = 'x'.repeat(8000)
  const log = new Log()
  let longest = 0
  let view = emptyView
  for (let offset = 0; offset < 2_000_000; offset += piece.length) {
    log.add('reasoning_delta', { text: piece, offset })
    log.add('assistant_text_delta', { text: piece, offset })
    view = apply(view, log.events.splice(0))
    const [answer] = view.entries
    if (answer?.type !== 'answer') throw new Error('no answer')
    longest = Math.max(longest, answer.text.length, answer.thinking.length)
    expect(answer.textFrom + answer.text.length).toBe(offset + piece.length)
  }
  expect(view.torn).toBe(false)
  expect(longest).toBeLessThanOrEqual(64_000)
  const again = apply(applyDraft(emptyView, draftOf(view)), [
    {
      session_id: 's',
      turn: 1,
      at: 1,
      kind: 'assistant_text_delta',
      data: { text: 'end', offset: 2_000_000 },
    },
  ])
  expect(again.torn).toBe(false)
  const [answer] = again.entries
  expect(answer?.type === 'answer' && answer.text.endsWith('xend')).toBe(true)
})

test('a message that was cut for display has its size and the event that holds all of it', () => {
  const log = new Log()
  log.add('assistant_text_end', { ...message([text('It … ends.')]), size: 16_000_000 })
  const [answer] = apply(emptyView, log.events).entries
  expect(answer).toMatchObject({
    type: 'answer',
    size: 16_000_000,
    seq: log.events[0]!.seq,
    textFrom: 0,
  })
})

test('of a whole answer as much is kept as of one that grew', () => {
  expect(newest('short', 7)).toEqual({ text: 'short', from: 7 })
  const { text, from } = newest('a'.repeat(100_000) + 'end', 50)
  expect(text).toHaveLength(32_000)
  expect(text.endsWith('end')).toBe(true)
  expect(from).toBe(50 + 100_003 - 32_000)
})

test('a draft that is read as a whole is no longer than an answer that grew', () => {
  const view = applyDraft(emptyView, { text: 'a'.repeat(100_000), text_offset: 5 })
  expect(view.entries).toMatchObject([{ textFrom: 68_005, streaming: true }])
  expect(view.entries[0]).toHaveProperty('text.length', 32_000)
})
