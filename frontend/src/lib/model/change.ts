/** A view while events change it. Entries are replaced, never modified, so that unchanged ones keep their identity. */
import type { Entry, View } from './entries'

export type Writable = { -readonly [K in keyof View]: View[K] } & { entries: Entry[] }

export const writable = (view: View): Writable => ({ ...view, entries: [...view.entries] })

/** Replaces an entry of the view by a copy with changes. */
export function replace<E extends Entry>(view: Writable, entry: E, change: Partial<E>): void {
  const index = view.entries.lastIndexOf(entry)
  view.entries[index] = { ...entry, ...change }
}
