/** Whether the newest turn is over, and whether it can be continued. */
import { isAskedFor } from './compaction'
import type { TurnEntry, View } from './entries'
import { isRestored } from './restored'

/** The end of the newest turn, if only what the user did came after it: commands, compactions and undoing. */
export function turnAtRest({ state, entries }: View): TurnEntry | undefined {
  const last = entries.findLast(
    (entry) => entry.type !== 'command' && !isAskedFor(entry) && !isRestored(entry),
  )
  return state === 'idle' && last?.type === 'turn' ? last : undefined
}

/** Whether the newest turn can be continued from where it stopped. */
export function canContinue(view: View): boolean {
  const last = turnAtRest(view)
  if (!last || last.reason === 'done' || last.reason === 'refused') return false
  const before = view.entries[view.entries.lastIndexOf(last) - 1]
  const isSpent = before?.type === 'notice' && before.notice === 'limit' && before.limit === 'turns'
  return !isSpent
}
