/** What is left of a conversation when parts of it were taken back. */
import type { Span } from '../types.gen'
import { isRewound, type Entry } from './entries'
import { seqOf } from './seqs'

/** The spans that took back the event at a place. */
const around = (place: number, spans: readonly Span[]) =>
  spans.filter(({ from, to }) => from < place && place < to)

/** Where entries are in the log. One without a place, such as a call that was interrupted, is where its neighbours are. */
function placesOf(entries: readonly Entry[]): number[] {
  let last = 0
  const places = entries.map((entry) => (last = seqOf(entry) ?? last))
  const first = places.find((place) => place > 0) ?? 0
  return places.map((place) => place || first)
}

/**
 * The entries that were not taken back, and the line of each part that was. The spans come from the session, because
 * the events that say so may not be loaded. The parts that are shown all the same keep their entries. What was
 * restored in files stays in sight, because a rewind leaves the files alone.
 */
export function standing(
  entries: readonly Entry[],
  spans: readonly Span[] = [],
  shown: ReadonlySet<string> = new Set(),
): readonly Entry[] {
  if (spans.length === 0 && !entries.some(isRewound)) return entries
  const hiding = spans.filter(({ id }) => !shown.has(id))
  const places = placesOf(entries)
  return entries.filter((entry, i) => {
    const isTaken = around(places[i]!, hiding).length > 0
    if (isRewound(entry)) return !isTaken && spans.some(({ id }) => id === entry.id)
    return !isTaken || (entry.type === 'notice' && entry.notice === 'restored')
  })
}

/** The ids of the spans that took an entry back. */
export function tookBack(
  entries: readonly Entry[],
  key: string,
  spans: readonly Span[] = [],
): readonly string[] {
  const at = entries.findIndex((entry) => entry.key === key)
  if (at < 0 || spans.length === 0) return []
  return around(placesOf(entries)[at]!, spans).map(({ id }) => id)
}

/** Whether a part can be brought back: until the user's next message or command that was not taken back. */
export function canBringBack(
  entries: readonly Entry[],
  id: string,
  spans: readonly Span[] = [],
): boolean {
  const left = standing(entries, spans)
  const at = left.findIndex((entry) => isRewound(entry) && entry.id === id)
  return at >= 0 && !left.slice(at).some(({ type }) => type === 'prompt' || type === 'command')
}

/** The newest turn that was not taken back; 0 if none is loaded. */
export function newestTurn(entries: readonly Entry[], spans: readonly Span[] = []): number {
  const last = standing(entries, spans).findLast(
    (entry) => (entry.type === 'turn' || entry.type === 'prompt') && entry.turn,
  )
  return (last && 'turn' in last && last.turn) || 0
}

/** The message that began a turn, as far as it is loaded. */
export function promptOf(entries: readonly Entry[], turn: number): string | undefined {
  const entry = entries.find(
    (each) => each.type === 'prompt' && each.turn === turn && !each.steered,
  )
  return entry?.type === 'prompt' ? (entry.typed ?? entry.text) : undefined
}
