import { expect, test } from 'vitest'
import type { Envelope, Event } from '../types.gen'
import { freshEvents } from './sync'

/** An envelope from short hand: numbers are durable events, letters deltas. */
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
  ['what follows is taken', envelope(6, 'a', 5, 'b', 6), 4, ['a', 5, 'b', 6]],
  ['deltas alone are taken', envelope(4, 'a'), 4, ['a']],
  ['what is known is dropped with the deltas before it', envelope(5, 'a', 5, 'b'), 5, ['b']],
  ['an older envelope is dropped whole', envelope(3, 'a'), 4, []],
  ['an event is missing before', envelope(6, 6), 4, null],
  ['an event was left out for its size', envelope(5), 4, null],
  ['an event was left out at the end', envelope(6, 5), 4, null],
  ['an event that could not be stored is shown', envelope(4, 'a'), 4, ['a']],
])('%s', (_, given, seq, want) => {
  expect(brief(freshEvents(given, seq))).toEqual(want)
})
