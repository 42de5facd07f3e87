/** What is left of a conversation when parts of it were taken back. */
import type { Span } from '../types.gen'
import type { Entry } from './entries'

/** The place in the log where an entry began, as far as its key says it. */
const placeOf = ({ key }: Entry): number | undefined => {
  const { 1: seq } = /^e(\d+)$/.exec(key) ?? []
  return seq === undefined ? undefined : Number(seq)
}

/**
 * The entries that stand, with one for each part that was taken back. What was restored in files is always
 * shown, because it was not taken back. Entries without a place are where the entry before them is.
 */
export function standing(
  entries: readonly Entry[],
  spans: readonly Span[] | undefined,
  shown: ReadonlySet<string>,
): readonly Entry[] {
  const isRewound = (entry: Entry) => entry.type === 'notice' && entry.notice === 'rewound'
  const taken = (spans ?? []).filter(({ id }) => !shown.has(id))
  if (taken.length === 0 && !entries.some(isRewound)) return entries
  let last = 0
  return entries.filter((entry) => {
    last = placeOf(entry) ?? last
    const isTaken = taken.some(({ from, to }) => from < last && last < to)
    if (entry.type !== 'notice') return !isTaken
    if (entry.notice === 'rewound') {
      return !isTaken && (spans ?? []).some(({ id }) => id === entry.id)
    }
    return !isTaken || entry.notice === 'restored'
  })
}
