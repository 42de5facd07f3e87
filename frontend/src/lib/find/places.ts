/** Where the hits of a search are in the conversation. */
import type { Entry } from '../model/entries'
import type { Hit } from '../types.gen'

/** The entry that shows a hit or a landmark; undefined if none of those that are loaded does. */
export function entryOf(
  entries: readonly Entry[],
  hit: Pick<Hit, 'seq' | 'kind' | 'of'>,
): Entry | undefined {
  // The entry of a compaction is named after the event with which it began.
  const began = ({ type, key }: Entry) => type === 'notice' && Number(key.slice(1)) <= hit.seq
  return entries.findLast((entry) => {
    if (entry.type === 'tool') return hit.of === entry.callId
    if (entry.type === 'command') return hit.of === entry.id
    if (entry.type === 'prompt' || entry.type === 'answer') return !hit.of && entry.seq === hit.seq
    if (hit.kind === 'error') return entry.key === `e${hit.seq}`
    return hit.kind === 'compaction_end' && 'notice' in entry && entry.notice === 'compaction'
      ? began(entry)
      : false
  })
}

/** Whether a hit is in a part that is not shown while its entry is folded. */
export const isInside = ({ part, kind }: Hit): boolean =>
  part !== 'message' || kind === 'compaction_end'

/**
 * Which of the places in an entry's row a hit is. The row shows the same text in the same order, but not
 * always all of it, nor only it: names and numbers are drawn before, what was said or printed comes last.
 */
export function placeOf(hit: Hit, hits: readonly Hit[], drawn: number): number {
  const isFirst = hit.part === 'input' || hit.part === 'thinking'
  const of = (part: Hit['part']) =>
    hits.filter((other) => other.seq === hit.seq && other.part === part).length
  const same = of(hit.part)
  // The prompt that was made of a message follows it while it is unfolded.
  const after = hit.part === 'message' && drawn >= same + of('prompt') ? of('prompt') : 0
  const place = (hit.nth ?? 0) + (isFirst ? 0 : drawn - same - after)
  return Math.max(0, Math.min(place, drawn - 1))
}
