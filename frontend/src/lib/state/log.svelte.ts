import { type ApiError, asApiError, type Call } from '../api'
import { inFrame } from './paint'
import { Passage } from './passage.svelte'
import type { Event, FindReply, HistoryRequest, Landmark, LandmarkReply } from '../types.gen'

export const pageSize = 200
/** How far before the passage an event may be that is read together with all that is between them. */
const near = 800
/** How many events before its target a jump reads. */
const before = 50

/** The parts of a session's log that were read: the newest one, which is kept up to date, and one that a jump went to. */
export class Log {
  newest = $state.raw(new Passage())
  /** Set after a jump far back, until the user returns or reads on to the newest passage. */
  past = $state.raw<Passage>()
  readonly shown = $derived(this.past ?? this.newest)
  #reading: Promise<void> | undefined

  constructor(
    private readonly session: string,
    private readonly call: Call,
    private readonly onproblem: (problem: ApiError) => void,
  ) {}

  /** Reads the page before a passage. */
  async older(passage = this.shown): Promise<void> {
    if (passage.more && !this.#reading) await this.#read(() => this.#readBefore(passage, pageSize))
  }

  /** Reads the page after the passage that a jump went to. */
  async newer(): Promise<void> {
    const { past } = this
    if (!past || this.#reading) return
    await this.#read(async () => {
      const after = past.view.seq
      const { events, more } = await this.#page({ after, limit: pageSize })
      if (this.past === past) this.#extend(past, events, more)
    })
  }

  /** Shows the passage with an event, which is read first if it is not known. It reports false if that failed. */
  async reach(seq: number): Promise<boolean> {
    while (this.#reading) await this.#reading
    if (this.shown.has(seq)) return true
    if (this.newest.has(seq)) this.showNewest()
    else {
      const { from } = this.shown
      const distance = from - seq
      await this.#read(() =>
        distance > 0 && distance <= near
          ? this.#readBefore(this.shown, distance + before)
          : this.#readAround(seq),
      )
    }
    return this.shown.has(seq)
  }

  showNewest(): void {
    this.past = undefined
  }

  /** Searches a part of the log for a text, from the newest event before the given one; undefined on failure. */
  find = (text: string, before: number): Promise<FindReply | undefined> =>
    this.#try(() => this.call('conversation.find', { session: this.session, text, before }))

  /** Finds the nearest landmark before or after an event, that of a call if one is named; undefined if there is none. */
  async landmark(
    landmark: Landmark,
    from: number,
    back: boolean,
    of?: string,
  ): Promise<LandmarkReply | undefined> {
    const { session } = this
    for (;;) {
      const request = { session, landmark, from, back, of }
      const reply = await this.#try(() => this.call('conversation.landmark', request))
      if (reply?.seq) return reply
      if (!reply?.next) return undefined
      from = reply.next
    }
  }

  async #readBefore(passage: Passage, limit: number): Promise<void> {
    const { from } = passage
    const { events, more } = await this.#page({ before: from, limit })
    // Until the scroll event of the list's last correction, it would draw its old indexes, which other rows have then.
    await inFrame()
    // It may have been replaced meanwhile.
    if (passage.from === from) passage.prepend(events, more)
  }

  async #readAround(seq: number): Promise<void> {
    const after = Math.max(0, seq - 1 - before)
    const { events, more } = await this.#page({ after, limit: pageSize })
    const past = new Passage()
    past.take([], after > 0)
    this.past = past
    this.#extend(past, events, more, seq)
  }

  /**
   * Adds a page to the passage that a jump went to. It becomes the newest one when it reaches it. Until then it
   * ends with a turn, if the page has an end of one after the target, so that no turn is shown in parts.
   */
  #extend(past: Passage, events: readonly Event[], more: boolean, target = 0): void {
    const { from } = this.newest
    const unknown = events.filter(({ seq = 0 }) => seq < from)
    if (unknown.length < events.length || !more) {
      past.append(unknown)
      past.join(this.newest)
      this.newest = past
      this.past = undefined
      return
    }
    const end = events.findLastIndex(({ kind }) => kind === 'processing_end')
    const isAfter = end >= 0 && events[end]!.seq! >= target
    past.append(isAfter ? events.slice(0, end + 1) : events)
  }

  async #page(range: Omit<HistoryRequest, 'session'>) {
    const { session } = this
    const { events = [], more = false } = await this.call('conversation.history', {
      session,
      ...range,
    })
    return { events, more }
  }

  /** Reads one page at a time. */
  async #read(work: () => Promise<void>): Promise<void> {
    this.#reading = this.#try(work)
    await this.#reading
    this.#reading = undefined
  }

  async #try<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (thrown) {
      this.onproblem(asApiError(thrown))
    }
  }
}
