/** Notices the end of the turn that was shown unfinished. */
import type { Entry, TurnEntry } from './entries'

export class TurnEnds {
  #last?: TurnEntry | undefined
  #wasOpen = false
  #list?: object

  /**
   * The first turn that ended since the last call. The list says which entries are shown: after a change of the
   * list, or if older entries were added, nothing has ended.
   */
  since(list: object, entries: readonly Entry[], isOlder: boolean): TurnEntry | undefined {
    let first: TurnEntry | undefined
    let last: TurnEntry | undefined
    for (let i = entries.length - 1; i >= 0; i--) {
      const entry = entries[i]!
      if (entry.type !== 'turn') continue
      last ??= entry
      if (entry.key === this.#last?.key) break
      first = entry
    }
    const isNews = list === this.#list && !isOlder && this.#wasOpen
    this.#list = list
    this.#last = last
    this.#wasOpen = entries.at(-1)?.type !== 'turn'
    return isNews ? first : undefined
  }
}
