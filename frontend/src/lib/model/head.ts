/** Folds a log in parts: older events are folded on their own and then joined to what is known. */
import type { Entry, View } from './entries'
import { apply, applyDraft, draftOf } from './reducer'
import type { Event } from '../types.gen'

/**
 * The oldest known events, up to the first end of a turn. Only their entries depend on what happened before
 * them, so only they are folded again when older events become known.
 */
export class Head {
  #events: Event[] = []
  #isEnded = false

  /** The place of the oldest known event in the log; Infinity if none is known. */
  get first(): number {
    return this.#events[0]?.seq ?? Infinity
  }

  /** Takes the events that follow those that are known. An end that could not be stored is one of them. */
  add(events: readonly Event[]): void {
    for (const event of events) {
      if (this.#isEnded) return
      this.#isEnded = event.kind === 'processing_end'
      if (event.seq || this.#isEnded) this.#events.push(event)
    }
  }

  /** The head of events and of those that follow them, which begin with the given head. */
  static of(events: readonly Event[], next?: Head): Head {
    const head = new Head()
    head.add(events)
    if (next) head.add(next.#events)
    return head
  }

  /** Takes the events of the head that follows. */
  addHead(next: Head): void {
    this.add(next.#events)
  }

  /**
   * Joins the view of these events and all that follow to a view of the events before them. The entries after
   * the first end of a turn keep their identity. Nothing changes about the session's present state.
   */
  join(older: View, view: View): View {
    const folded = apply(older, this.#events)
    if (this.#isEnded) {
      const end = view.entries.findIndex((entry) => entry.type === 'turn')
      return { ...view, entries: folded.entries.concat(view.entries.slice(end + 1)) }
    }
    // Streamed text is not yet in any known event.
    const { outputs } = draftOf(view)
    const { entries, turnStartedAt, askedAt, rounds, answeredBy } = applyDraft(folded, { outputs })
    const streamed = view.entries.filter(isStreamed)
    return {
      ...view,
      entries: entries.concat(streamed),
      turnStartedAt,
      askedAt,
      rounds,
      answeredBy,
    }
  }
}

const isStreamed = (entry: Entry) =>
  (entry.type === 'answer' && entry.streaming) ||
  (entry.type === 'tool' && entry.status === 'drafting')
