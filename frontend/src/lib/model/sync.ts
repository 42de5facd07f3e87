/** How live envelopes join what a page has already read. */
import type { Envelope, Event } from '../types.gen'

/** The events of an envelope that a page at seq has not seen; null where some lie between. */
export function freshEvents(envelope: Envelope, seq: number): readonly Event[] | null {
  // A delta belongs after the last durable event before it, so whatever stands
  // before a known event is known, and so is all of an older envelope.
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
