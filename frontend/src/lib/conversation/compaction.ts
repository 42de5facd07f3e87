/** A compaction that somebody asked for: work between two turns, no turn itself. */
import type { Entry, View } from './entries'

export const isAskedFor = (entry: Entry): boolean =>
  entry.type === 'notice' && entry.notice === 'compaction' && entry.trigger === 'manual'

/** What makes the session busy is such a compaction. */
export function isCompacting({ state, entries }: View): boolean {
  const newest = entries.findLast(
    (entry) => entry.type === 'notice' && entry.notice === 'compaction',
  )
  if (state !== 'processing' || newest === undefined || !isAskedFor(newest)) return false
  return newest.type === 'notice' && newest.notice === 'compaction' && !newest.end
}
