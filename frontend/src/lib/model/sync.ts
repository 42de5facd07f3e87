/** Joins live envelopes to the events that a page has already read. */
import type { Envelope, Event } from '../types.gen'

/** The events of an envelope that are new to a page at seq; null if events between them are missing. */
export function freshEvents(envelope: Envelope, seq: number): readonly Event[] | null {
  // A delta belongs after the durable event before it. So everything before a
  // known event is known, and so is everything in an older envelope.
  if (envelope.seq < seq) return []
  const events = envelope.events ?? []
  const known = events.findLastIndex((event) => event.seq !== undefined && event.seq <= seq)
  const fresh = events.slice(known + 1)
  let last = seq
  for (const event of fresh) {
    if (event.seq === undefined) continue
    if (event.seq !== last + 1) return null
    last = event.seq
  }
  return envelope.seq > last ? null : fresh
}
