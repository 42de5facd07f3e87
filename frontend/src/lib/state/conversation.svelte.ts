import { SvelteMap, SvelteSet } from 'svelte/reactivity'
import { type ApiError, asApiError, type Call } from '../api'
import { Log, pageSize } from './log.svelte'
import { Queue } from './queue.svelte'
import type {
  Answer,
  CommandCall,
  ContextBreakdown,
  Envelope,
  Event,
  Media,
  SessionInfo,
  Settings,
  Snapshot,
  Verb,
} from '../types.gen'
import { type Folds, noFolds, withFold } from '../model/rows'
import { isRewound } from '../model/entries'
import { standing } from '../model/rewound'
import { fold } from '../model/sessions'
import { emptyView, type View } from '../model/entries'
import { applyDraft } from '../model/reducer'
import type { Message } from '../model/slash'
import { freshEvents } from '../model/sync'
import { giveBack } from './refused'
import type { Undo } from './undo.svelte'

/** Up to which event suggestions were dismissed, by session. It is kept when another session is opened. */
const putAway = new SvelteMap<string, number>()

/** One session as the page follows it. It is read once, then kept up to date by envelopes. */
export class Conversation {
  info = $state.raw<SessionInfo>()
  /** The last failure of something that the user asked for; null once dismissed. */
  problem = $state.raw<ApiError | null>(null)
  loading = $state(true)
  stopping = $state(false)
  /** The last reading of its newest part. */
  opened: Promise<void> = Promise.resolve()
  /** Whether the user unfolded (true) or folded (false) a card, by entry key. Other cards follow their state. */
  readonly unfolded = new SvelteMap<string, boolean>()
  /** The turns and groups of calls that the user unfolded or folded. */
  folds = $state.raw<Folds>(noFolds)
  /** The rewinds whose part of the conversation is shown all the same, by id. */
  readonly rewoundShown = new SvelteSet<string>()
  readonly queue: Queue
  /** What was read of it. */
  readonly log: Log

  /** The settings that the user chose last, or those that the log records. */
  readonly settings = $derived.by(() => this.#wish ?? this.view.settings)
  /** The suggested next message, unless it was dismissed. */
  readonly suggestion = $derived.by(() => {
    const { suggestion } = this.view
    return suggestion && suggestion.seq > (putAway.get(this.id) ?? 0) ? suggestion.text : undefined
  })
  /** The session as of its newest event, without what was taken back. */
  readonly left = $derived.by<View>(() => {
    const { view, info } = this
    const entries = standing(view.entries, info?.rewound)
    if (entries === view.entries) return view
    return { ...view, entries: entries.filter((entry) => !isRewound(entry)) }
  })
  #wish = $state.raw<Settings>()
  #configuring: Promise<unknown> = Promise.resolve()

  #waiting: Envelope[] = []
  #reading = false
  #call: Call

  constructor(
    readonly id: string,
    call: Call,
  ) {
    this.#call = call
    const onproblem = (problem: ApiError) => (this.problem = problem)
    this.queue = new Queue(id, call, onproblem)
    this.log = new Log(id, call, onproblem)
  }

  /** The session as of its newest event. */
  get view(): View {
    return this.log.newest.view
  }

  /** Unfolds or folds a turn or a group of calls, by the key of its row. */
  fold(key: string, open: boolean): void {
    this.folds = withFold(this.folds, key, open)
  }

  /** Reads the newest part of the session. It also recovers whatever was missed. */
  open(): Promise<void> {
    this.opened = this.#open()
    return this.opened
  }

  async #open(): Promise<void> {
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

  /** Dismisses the suggested message: the user did not want it, or sends another one. */
  putAwaySuggestion(): void {
    putAway.set(this.id, this.view.seq)
  }

  /** Sends a message, which may use a skill, once the settings that are shown are saved; false if it was not accepted. */
  send = (text: string, command?: CommandCall): Promise<boolean> =>
    this.#give(() => this.#ask('conversation.send', { session: this.id, text, command }))

  /** Sends an edited prompt in place of a turn and all after it; false if it was not accepted, or not wanted after all. */
  resend = (undo: Undo, turn: number, message: Message): Promise<boolean> =>
    this.#give(() => this.#attempt(() => undo.resend(this.id, turn, message)))

  async #give(give: () => Promise<boolean>): Promise<boolean> {
    this.putAwaySuggestion()
    await this.#configuring
    this.queue.note = undefined
    return give()
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
  async enqueue(verb: Verb, text: string, command?: CommandCall): Promise<boolean> {
    await this.#configuring
    this.problem = null
    return this.queue.add(verb, text, command)
  }

  /** Begins a turn with the waiting queue. */
  async sendQueued(): Promise<void> {
    await this.#configuring
    this.problem = null
    await this.queue.run()
  }

  answer = (approval: string, answer: Answer) =>
    this.#ask('conversation.answer', { session: this.id, approval, answer })

  /** Brings back what a rewind took from the conversation. */
  bringBack = (id: string) => this.#ask('undo.bring_back', { session: this.id, id })

  /** Opens a file of the project, or of the session's worktree, in the user's editor. */
  openFile = (path: string, line: number) =>
    this.#ask('files.open', { session: this.id, path, line })

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

  /** Loads the pictures of a message, or what a call showed the model and then the sounds that it has for the user, with their data. */
  async pictures(seq: number | undefined): Promise<readonly Media[]> {
    const event = seq === undefined ? undefined : await this.whole(seq)
    if (event?.kind === 'user_input' || event?.kind === 'steering_injected') {
      return event.data.media ?? []
    }
    if (event?.kind !== 'tool_call_end') return []
    const { media = [], details } = event.data
    return [...media, ...(details?.server?.sounds ?? [])]
  }

  /** Makes a call and shows the user its failure; false if it failed. */
  #ask<M extends Parameters<Call>[0]>(method: M, args: Parameters<Call>[1]): Promise<boolean> {
    return this.#attempt(async () => {
      await (this.#call as (method: M, args: Parameters<Call>[1]) => Promise<unknown>)(method, args)
      return true
    })
  }

  /** Tries something and shows the user its failure; false if it failed. */
  async #attempt(what: () => Promise<boolean>): Promise<boolean> {
    this.problem = null
    try {
      return await what()
    } catch (thrown) {
      this.problem = asApiError(thrown)
      return false
    }
  }

  /** Runs one read at a time. Envelopes that arrive meanwhile are applied after it. */
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
    const { newest } = this.log
    const events = snapshot.events ?? []
    const known = this.view.seq
    this.info = snapshot.session
    if (known > 0 && (events[0]?.seq ?? Infinity) <= known + 1) {
      this.#append(events.filter((event) => (event.seq ?? 0) > known))
    } else {
      const { allowance } = this.view
      newest.take(events, snapshot.more === true, { ...emptyView, allowance })
    }
    const { state, settings, title, context, cost, seq } = snapshot.session
    const view = applyDraft(this.view, snapshot.draft)
    newest.view = {
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
    this.log.newest.append(events)
    if (this.info) this.info = telling(this.info.seq, events).reduce(fold, this.info)
    this.queue.receive(events)
    giveBack(this.id, this.view, events)
    if (this.view.state === 'idle') this.stopping = false
    this.#settle()
  }
}

/** The events after a place in the log that say what was taken back, and which skills are in use. */
const telling = (place: number, events: readonly Event[]) =>
  events.filter(
    ({ kind, data, seq = 0 }) =>
      seq > place &&
      (kind === 'user_input' ||
        (kind === 'tool_call_end' && data.details?.skill) ||
        kind === 'conversation_rewound' ||
        kind === 'conversation_rewind_undone'),
  )

const isSame = (a: Settings, b: Settings) =>
  a.provider === b.provider &&
  a.model === b.model &&
  a.mode === b.mode &&
  (a.effort ?? '') === (b.effort ?? '') &&
  (a.fallback_provider ?? '') === (b.fallback_provider ?? '') &&
  (a.fallback_model ?? '') === (b.fallback_model ?? '') &&
  (a.budget ?? 0) === (b.budget ?? 0)
