import { tick } from 'svelte'
import { emptyView, type View } from '../model/entries'
import { Head } from '../model/head'
import type { Place } from '../model/place'
import { apply } from '../model/reducer'
import type { Event } from '../types.gen'

/** A part of a session's log without gaps, folded. It grows at both ends as more of the log is read. */
export class Passage {
  view = $state.raw<View>(emptyView)
  /** There are older events that were not read. */
  more = $state(false)
  /** Set while older entries are put before the others, so that the list keeps its scroll position. */
  prepending = $state(false)
  /** The scroll position in which the list was left; undefined is the end. */
  place?: Place
  #head = new Head()

  /** The first known event; Infinity if there is none. */
  get from(): number {
    return this.#head.first
  }

  has(seq: number): boolean {
    return this.from <= seq && seq <= this.view.seq
  }

  /** Replaces what is known. The given view has what the events do not say. */
  take(events: readonly Event[], more: boolean, view: View = emptyView): void {
    this.#head = Head.of(events)
    this.more = more
    this.view = apply(view, events)
  }

  /** Adds the events that follow. */
  append(events: readonly Event[]): void {
    this.#head.add(events)
    this.view = apply(this.view, events)
  }

  /** Puts older events before the others. */
  prepend(events: readonly Event[], more: boolean): void {
    this.view = this.#head.join(apply(emptyView, events), this.view)
    this.#head = Head.of(events, this.#head)
    this.more = more
    this.prepending = true
    void tick().then(() => (this.prepending = false))
  }

  /** Adds the passage that follows. It has the present state of the session. */
  join(next: Passage): void {
    this.view = next.#head.join(this.view, next.view)
    this.#head.addHead(next.#head)
  }
}
