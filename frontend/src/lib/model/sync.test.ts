import { expect, test } from 'vitest'
import type { Envelope, Event } from '../types.gen'
import { freshEvents } from './sync'

/** An envelope in shorthand: numbers are durable events, letters are deltas. */
function envelope(seq: number, ...items: (number | string)[]): Envelope {
  const events = items.map((item) =>
    typeof item === 'number'
      ? { session_id: 's', seq: item, at: 0, kind: 'title', data: { text: '' } }
      : {
          session_id: 's',
          at: 0,
          kind: 'assistant_text_delta',
          data: { text: item, offset: 0 },
        },
  ) as Event[]
  return { session: 's', seq, events }
}

const brief = (events: readonly Event[] | null) =>
  events?.map((e) => e.seq ?? (e.kind === 'assistant_text_delta' ? e.data.text : e.kind)) ?? null

test.each<[string, Envelope, number, (number | string)[] | null]>([
  ['the next events are new', envelope(6, 'a', 5, 'b', 6), 4, ['a', 5, 'b', 6]],
  ['deltas are new', envelope(4, 'a'), 4, ['a']],
  ['known events are dropped with the deltas before them', envelope(5, 'a', 5, 'b'), 5, ['b']],
  ['an older envelope is dropped', envelope(3, 'a'), 4, []],
  ['an event is missing before the envelope', envelope(6, 6), 4, null],
  ['an event was left out because of its size', envelope(5), 4, null],
  ['an event was left out at the end', envelope(6, 5), 4, null],
])('%s', (_, given, seq, want) => {
  expect(brief(freshEvents(given, seq))).toEqual(want)
})
