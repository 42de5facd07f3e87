import { SvelteMap } from 'svelte/reactivity'
import { type ApiError, asApiError, type Call } from '../api'
import { Queue } from './queue.svelte'
import type { Place } from '../model/place'
import type {
  Answer,
  ContextBreakdown,
  Envelope,
  Event,
  FindReply,
  Media,
  SessionInfo,
  Settings,
  Snapshot,
  Verb,
} from '../types.gen'
import { type Folds, noFolds, withFold } from '../model/rows'
import { emptyView, type View } from '../model/entries'
import { apply, applyDraft, draftOf } from '../model/reducer'
import { freshEvents } from '../model/sync'

const pageSize = 200
/** When a jump goes far back, pages are larger; it reads at most so many of them. */
const jumpPage = 1000
const jumpPages = 100

/** Up to which event suggestions were dismissed, by session. It is kept when another session is opened. */
const putAway = new SvelteMap<string, number>()

/** One session as the page follows it. It is read once, then kept up to date by envelopes. */
export class Conversation {
  info = $state.raw<SessionInfo>()
  view = $state.raw<View>(emptyView)
  /** There are older events that were not read. */
  more = $state(false)
  /** The last failure of something that the user asked for; null once dismissed. */
  problem = $state.raw<ApiError | null>(null)
  loading = $state(true)
  /** Set while older entries are put before the others, so that the list keeps its scroll position. */
  prepending = $state(false)
  stopping = $state(false)
  /** Whether the user unfolded (true) or folded (false) a card, by entry key. Other cards follow their state. */
  readonly unfolded = new SvelteMap<string, boolean>()
  /** The turns and groups of calls that the user unfolded or folded. */
  folds = $state.raw<Folds>(noFolds)
  /** The scroll position in which the list was left; undefined is the end. */
  place?: Place
  readonly queue: Queue

  /** The settings that the user chose last, or those that the log records. */
  readonly settings = $derived.by(() => this.#wish ?? this.view.settings)
  /** The suggested next message, unless it was dismissed. */
  readonly suggestion = $derived.by(() => {
    const { suggestion } = this.view
    return suggestion && suggestion.seq > (putAway.get(this.id) ?? 0) ? suggestion.text : undefined
  })
  #wish = $state.raw<Settings>()
  #configuring: Promise<unknown> = Promise.resolve()

  #log: Event[] = []
  #waiting: Envelope[] = []
  #reading = false
  #lastRead: Promise<void> = Promise.resolve()
  #call: Call

  constructor(
    readonly id: string,
    call: Call,
  ) {
    this.#call = call
    this.queue = new Queue(id, call, (problem) => (this.problem = problem))
  }

  /** Unfolds or folds a turn or a group of calls, by the key of its row. */
  fold(key: string, open: boolean): void {
    this.folds = withFold(this.folds, key, open)
  }

  /** Reads the newest part of the session. It also recovers whatever was missed. */
  async open(): Promise<void> {
    await this.#read(async () => {
      const { changes } = this.queue
      const snapshot = await this.#call('conversation.open', { session: this.id, limit: pageSize })
      this.#take(snapshot)
      this.queue.load(snapshot.queue ?? [], changes)
    })
    this.loading = false
  }

  /** Reads what happened since the last known event, for example after a reconnect. */
  async catchUp(): Promise<void> {
    await this.#read(async () => {
      for (let more = true; more;) {
        const after = this.view.seq
        const page = await this.#call('conversation.history', { session: this.id, after })
        this.#append(page.events ?? [])
        more = page.more === true && this.view.seq > after
      }
    })
  }

  /** Takes an envelope of this session. It must be cheap: it is called for every envelope. */
  receive(envelope: Envelope): void {
    if (this.#reading) {
      this.#waiting.push(envelope)
      return
    }
    const fresh = freshEvents(envelope, this.view.seq)
    if (fresh === null) {
      void this.catchUp()
      return
    }
    this.#append(fresh)
    if (this.view.torn) void this.open()
  }

  /** Reads the page of events before the oldest known event. */
  async older(): Promise<void> {
    const before = this.#log[0]?.seq
    if (!this.more || !before || this.#reading) return
    await this.#read(async () => {
      const request = { session: this.id, before, limit: pageSize }
      const page = await this.#call('conversation.history', request)
      this.#prepend(page.events ?? [], page.more === true)
    })
  }

  /** Reads older events until one of them is known. It reports false if that is too far back, or if it failed. */
  async reach(seq: number): Promise<boolean> {
    const isKnown = () => (this.#log[0]?.seq ?? Infinity) <= seq
    while (this.#reading) await this.#lastRead
    if (isKnown()) return true
    await this.#read(async () => {
      const pages: Event[][] = []
      let before = this.#log[0]?.seq ?? 0
      let { more } = this
      while (more && before > seq && pages.length < jumpPages) {
        const request = { session: this.id, before, limit: jumpPage }
        const page = await this.#call('conversation.history', request)
        pages.unshift(page.events ?? [])
        more = page.more === true
        before = page.events?.[0]?.seq ?? 0
      }
      // They are folded once, because each fold goes through the whole log.
      this.#prepend(pages.flat(), more)
    })
    return isKnown()
  }

  /** Searches a part of the log for a text, from the newest event before the given one; undefined on failure. */
  async find(text: string, before: number): Promise<FindReply | undefined> {
    try {
      return await this.#call('conversation.find', { session: this.id, text, before })
    } catch (thrown) {
      this.problem = asApiError(thrown)
    }
  }

  /** Dismisses the suggested message: the user did not want it, or sends another one. */
  putAwaySuggestion(): void {
    putAway.set(this.id, this.view.seq)
  }

  /** Sends a message once the settings that are shown are saved; false if it was not accepted. */
  async send(text: string): Promise<boolean> {
    this.putAwaySuggestion()
    await this.#configuring
    this.queue.note = undefined
    return this.#ask('conversation.send', { session: this.id, text })
  }

  /** Runs the user's command; false if it was not accepted. */
  run = (command: string): Promise<boolean> =>
    this.#ask('conversation.command', { session: this.id, command })

  /** Continues the newest turn from where it stopped. */
  async carryOn(): Promise<void> {
    await this.#configuring
    await this.#ask('conversation.continue', { session: this.id })
  }

  /** Compacts the conversation: a summary replaces what the model is sent. The focus says what to keep in particular. */
  async compact(focus: string): Promise<void> {
    await this.#configuring
    await this.#ask('conversation.compact', { session: this.id, focus })
  }

  /** Loads what fills the context of the next request. */
  breakdown = (): Promise<ContextBreakdown> =>
    this.#call('conversation.breakdown', { session: this.id })

  /** Queues a message for the running turn; false if it was not accepted. */
  async enqueue(verb: Verb, text: string): Promise<boolean> {
    await this.#configuring
    this.problem = null
    return this.queue.add(verb, text)
  }

  /** Begins a turn with the waiting queue. */
  async sendQueued(): Promise<void> {
    await this.#configuring
    this.problem = null
    await this.queue.run()
  }

  answer = (approval: string, answer: Answer) =>
    this.#ask('conversation.answer', { session: this.id, approval, answer })

  /** Opens a file of the project in the user's editor. */
  openFile = (path: string, line: number) => this.#ask('files.open', { path, line })

  async interrupt(): Promise<void> {
    this.stopping = true
    if (!(await this.#ask('conversation.interrupt', { session: this.id }))) this.stopping = false
  }

  /** Changes the settings from the next round on. The page shows them at once, before the log records them. */
  async configure(settings: Settings): Promise<void> {
    this.#wish = settings
    // One at a time, because the host may finish calls in another order than they were made.
    const asked = this.#configuring.then(() =>
      this.#ask('conversation.configure', { session: this.id, settings }),
    )
    this.#configuring = asked
    const isTaken = await asked
    if (this.#wish === settings && !isTaken) this.#wish = undefined
    this.#settle()
  }

  #settle(): void {
    const recorded = this.view.settings
    if (this.#wish && recorded && isSame(this.#wish, recorded)) this.#wish = undefined
  }

  /** Loads the complete event of a text that was cut for display; undefined on failure. */
  async whole(seq: number): Promise<Event | undefined> {
    try {
      return (await this.#call('conversation.event', { session: this.id, seq })).event
    } catch (thrown) {
      this.problem = asApiError(thrown)
    }
  }

  /** Loads the pictures that a call showed the model, with their data. */
  async pictures(seq: number | undefined): Promise<readonly Media[]> {
    const event = seq === undefined ? undefined : await this.whole(seq)
    return event?.kind === 'tool_call_end' ? (event.data.media ?? []) : []
  }

  /** Makes a call and shows the user its failure; false if it failed. */
  async #ask<M extends Parameters<Call>[0]>(method: M, args: Parameters<Call>[1]) {
    this.problem = null
    try {
      await (this.#call as (method: M, args: Parameters<Call>[1]) => Promise<unknown>)(method, args)
      return true
    } catch (thrown) {
      this.problem = asApiError(thrown)
      return false
    }
  }

  /** Runs one read at a time. Envelopes that arrive meanwhile are applied after it. */
  async #read(work: () => Promise<void>): Promise<void> {
    if (this.#reading) return
    this.#reading = true
    this.#lastRead = work().catch((thrown: unknown) => {
      this.problem = asApiError(thrown)
      this.#waiting = []
    })
    await this.#lastRead
    this.#reading = false
    for (const envelope of this.#waiting.splice(0)) this.receive(envelope)
  }

  #take(snapshot: Snapshot): void {
    const events = snapshot.events ?? []
    const known = this.view.seq
    this.info = snapshot.session
    if (known > 0 && (events[0]?.seq ?? Infinity) <= known + 1) {
      this.#append(events.filter((event) => (event.seq ?? 0) > known))
    } else {
      this.#log = events
      this.more = snapshot.more === true
      this.view = apply({ ...emptyView, allowance: this.view.allowance }, events)
    }
    const { state, settings, title, context, cost, seq } = snapshot.session
    const view = applyDraft(this.view, snapshot.draft)
    this.view = {
      ...view,
      state,
      settings,
      title,
      context: view.context || context,
      cost,
      seq: Math.max(view.seq, events.at(-1)?.seq ?? seq),
    }
  }

  /** Older events add entries, but change nothing about the session's present state. */
  #prepend(events: readonly Event[], more: boolean): void {
    this.#log = [...events, ...this.#log]
    this.more = more
    this.prepending = true
    const folded = applyDraft(apply(emptyView, this.#log), draftOf(this.view))
    const { entries, turnStartedAt, rounds } = folded
    this.view = { ...this.view, entries, turnStartedAt, rounds }
  }

  #append(events: readonly Event[]): void {
    if (events.length === 0) return
    this.prepending = false
    for (const event of events) if (event.seq) this.#log.push(event)
    this.view = apply(this.view, events)
    this.queue.receive(events)
    if (this.view.state === 'idle') this.stopping = false
    this.#settle()
  }
}

const isSame = (a: Settings, b: Settings) =>
  a.provider === b.provider &&
  a.model === b.model &&
  a.mode === b.mode &&
  (a.effort ?? '') === (b.effort ?? '') &&
  (a.fallback_provider ?? '') === (b.fallback_provider ?? '') &&
  (a.fallback_model ?? '') === (b.fallback_model ?? '') &&
  (a.budget ?? 0) === (b.budget ?? 0)
