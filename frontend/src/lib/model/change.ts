/** A view while events change it. Entries are replaced, never modified, so that unchanged ones keep their identity. */
import type { Entry, View } from './entries'

export type Writable = { -readonly [K in keyof View]: View[K] } & { entries: Entry[] }

export const writable = (view: View): Writable => ({ ...view, entries: [...view.entries] })

/** Replaces an entry of the view by a copy with changes. */
export function replace<E extends Entry>(view: Writable, entry: E, change: Partial<E>): void {
  const index = view.entries.lastIndexOf(entry)
  view.entries[index] = { ...entry, ...change }
}

/**
 * Finds the newest entry of a kind since the last turn ended. What is before its end never changes again, so a
 * search costs what the open turn costs, and a log can be folded in parts.
 */
export function findOpen<E extends Entry>(
  view: Writable,
  is: (entry: Entry) => entry is E,
): E | undefined {
  for (let i = view.entries.length - 1; i >= 0; i--) {
    const entry = view.entries[i]!
    if (entry.type === 'turn') return undefined
    if (is(entry)) return entry
  }
  return undefined
}
