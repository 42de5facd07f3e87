/** Compactions that the user asked for. They run between two turns and are not turns themselves. */
import type { CompactionEntry, Entry, View } from './entries'

const isCompaction = (entry: Entry): entry is CompactionEntry =>
  entry.type === 'notice' && entry.notice === 'compaction'

export const isAskedFor = (entry: Entry): entry is CompactionEntry =>
  isCompaction(entry) && entry.trigger === 'manual'

export const newestAskedFor = ({ entries }: View): CompactionEntry | undefined =>
  entries.findLast(isAskedFor)

/** Whether the session is busy with such a compaction. */
export function isCompacting({ state, entries }: View): boolean {
  const newest = entries.findLast(isCompaction)
  return state === 'processing' && newest?.trigger === 'manual' && !newest.end
}
