import { SvelteMap } from 'svelte/reactivity'
import { type ApiError, asApiError, type Call } from '../api'
import { Queue } from './queue.svelte'
import type { Place } from '../model/place'
import type {
  Answer,
  ContextBreakdown,
  Envelope,
  Event,
  Media,
  SessionInfo,
  Settings,
  Snapshot,
  Verb,
} from '../types.gen'
import { emptyView, type View } from '../model/entries'
import { apply, applyDraft, draftOf } from '../model/reducer'
import { freshEvents } from '../model/sync'

const pageSize = 200

/** Up to which event suggestions were put away, by session: it outlives a change of session. */
const putAway = new SvelteMap<string, number>()

/** One session as the page follows it: read once, then kept up to date by envelopes. */
export class Conversation {
  info = $state.raw<SessionInfo>()
  view = $state.raw<View>(emptyView)
  /** There are older events than those read. */
  more = $state(false)
  /** The last failure of something the user asked for; null once dismissed. */
  problem = $state.raw<ApiError | null>(null)
  loading = $state(true)
  /** Set while older entries are put before the others, so that the list stands still. */
  prepending = $state(false)
  stopping = $state(false)
  /** Which cards the user opened or closed, by entry key; others follow their state. */
  readonly unfolded = new SvelteMap<string, boolean>()
  /** Where it was left in the list; undefined is the end. */
  place?: Place
  readonly queue: Queue

  /** What the user chose last, else what the log says. */
  readonly settings = $derived.by(() => this.#wish ?? this.view.settings)
  /** What the user may want to write next, unless it was put away. */
  readonly suggestion = $derived.by(() => {
    const { suggestion } = this.view
    return suggestion && suggestion.seq > (putAway.get(this.id) ?? 0) ? suggestion.text : undefined
  })
  #wish = $state.raw<Settings>()
  #configuring: Promise<unknown> = Promise.resolve()

  #log: Event[] = []
  #waiting: Envelope[] = []
  #reading = false
  #call: Call

  constructor(
    readonly id: string,
    call: Call,
  ) {
    this.#call = call
    this.queue = new Queue(id, call, (problem) => (this.problem = problem))
  }

  /** Reads the newest part of the session. Also the cure for anything lost. */
  async open(): Promise<void> {
    await this.#read(async () => {
      const { changes } = this.queue
      const snapshot = await this.#call('conversation.open', { session: this.id, limit: pageSize })
      this.#take(snapshot)
      this.queue.load(snapshot.queue ?? [], changes)
    })
    this.loading = false
  }

  /** Reads what happened since the last event here, for example after a reconnect. */
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

  /** Takes an envelope of this session. Cheap: called once per painted frame and envelope. */
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

  /** Reads the page before the oldest event here. */
  async older(): Promise<void> {
    const before = this.#log[0]?.seq
    if (!this.more || !before || this.#reading) return
    await this.#read(async () => {
      const request = { session: this.id, before, limit: pageSize }
      const page = await this.#call('conversation.history', request)
      this.#log = [...(page.events ?? []), ...this.#log]
      this.more = page.more === true
      this.prepending = true
      // What is older changes what is listed, and nothing about the session now.
      const folded = applyDraft(apply(emptyView, this.#log), draftOf(this.view))
      const { entries, turnStartedAt, rounds } = folded
      this.view = { ...this.view, entries, turnStartedAt, rounds }
    })
  }

  /** Shows the suggested prompt no more: it was not wanted, or another one is sent. */
  putAwaySuggestion(): void {
    putAway.set(this.id, this.view.seq)
  }

  /** Sends a prompt, after the settings that are shown; false where it was not taken. */
  async send(text: string): Promise<boolean> {
    this.putAwaySuggestion()
    await this.#configuring
    this.queue.note = undefined
    return this.#ask('conversation.send', { session: this.id, text })
  }

  /** Runs a command of the user's; false where it was not taken. */
  run = (command: string): Promise<boolean> =>
    this.#ask('conversation.command', { session: this.id, command })

  /** Carries on the newest turn where it was stopped. */
  async carryOn(): Promise<void> {
    await this.#configuring
    await this.#ask('conversation.continue', { session: this.id })
  }

  /** Puts a summary in the place of what the model is sent; focus is what to keep in particular. */
  async compact(focus: string): Promise<void> {
    await this.#configuring
    await this.#ask('conversation.compact', { session: this.id, focus })
  }

  /** What fills the context of the next request, computed again each time. */
  breakdown = (): Promise<ContextBreakdown> =>
    this.#call('conversation.breakdown', { session: this.id })

  /** Queues a message for the turn that runs; false where it was not taken. */
  async enqueue(verb: Verb, text: string): Promise<boolean> {
    await this.#configuring
    this.problem = null
    return this.queue.add(verb, text)
  }

  /** Goes on with what waits in the queue. */
  async sendQueued(): Promise<void> {
    await this.#configuring
    this.problem = null
    await this.queue.run()
  }

  answer = (approval: string, answer: Answer) =>
    this.#ask('conversation.answer', { session: this.id, approval, answer })

  async interrupt(): Promise<void> {
    this.stopping = true
    if (!(await this.#ask('conversation.interrupt', { session: this.id }))) this.stopping = false
  }

  /** Settings hold from the next round on; until the log says so the wish is shown. */
  async configure(settings: Settings): Promise<void> {
    this.#wish = settings
    // One at a time: the host may finish calls in another order than they were made.
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

  /** The whole event of a text that was cut for display; undefined on failure. */
  async whole(seq: number): Promise<Event | undefined> {
    try {
      return (await this.#call('conversation.event', { session: this.id, seq })).event
    } catch (thrown) {
      this.problem = asApiError(thrown)
    }
  }

  /** The pictures that a call showed the model, with their data. */
  async pictures(seq: number | undefined): Promise<readonly Media[]> {
    const event = seq === undefined ? undefined : await this.whole(seq)
    return event?.kind === 'tool_call_end' ? (event.data.media ?? []) : []
  }

  /** Makes a call whose failure the user sees; false then. */
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

  /** Runs one read at a time; what arrives meanwhile is applied after it. */
  async #read(work: () => Promise<void>): Promise<void> {
    if (this.#reading) return
    this.#reading = true
    try {
      await work()
    } catch (thrown) {
      this.problem = asApiError(thrown)
      this.#waiting = []
    }
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
