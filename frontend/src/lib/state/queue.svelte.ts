import { SvelteSet } from 'svelte/reactivity'
import { ApiError, asApiError, type Call } from '../api'
import { putBack, queuedDraft, readDraft, writeDraft } from './drafts.svelte'
import type { CommandCall, Event, Queued, QueueReply, Verb } from '../types.gen'
import { wrote } from '../model/entries'
import { moved } from '../model/order'

/** What happened to a message that is no longer in the queue. */
export type Note =
  | { about: 'removed'; text: string }
  /** The message was delivered before it could be changed. */
  | { about: 'delivered' }
  /** The message was delivered while it was being edited. The edited text was put into the composer. */
  | { about: 'put_back' }

type Change = 'queue.add' | 'queue.edit' | 'queue.move' | 'queue.remove'

/** Messages that the user wrote during a turn and that the agent has not received yet. */
export class Queue {
  items = $state.raw<readonly Queued[]>([])
  note = $state.raw<Note>()
  /** How often this page changed the queue. A queue that was read before a change is stale. */
  changes = 0
  /** The ids of delivered messages. A reply that still lists one of them is stale. */
  #delivered = new SvelteSet<string>()
  #changing: Promise<unknown> = Promise.resolve()
  #isReading = false

  constructor(
    private readonly session: string,
    private readonly call: Call,
    private readonly onproblem: (problem: ApiError) => void,
  ) {}

  /** Takes the queue that was read after the given number of changes. */
  load(items: readonly Queued[], changes: number): void {
    if (changes === this.changes) this.#show(items)
  }

  /** Removes the messages that events report as delivered, and follows the changes of other pages. */
  receive(events: readonly Event[]): void {
    for (const event of events) {
      if (event.kind === 'queue_change') this.#read()
      if (event.kind !== 'user_input' && event.kind !== 'steering_injected') continue
      if (event.data.queue_id) this.#deliver(event.data.queue_id)
    }
  }

  /** Puts a message at the end; false if it was not accepted. One that uses a skill begins a turn. */
  add = (verb: Verb, text: string, command?: CommandCall): Promise<boolean> => {
    const { session } = this
    return this.#change('queue.add', {
      session,
      verb: command ? 'follow_up' : verb,
      text,
      command,
    })
  }

  edit = (message: Queued): Promise<boolean> =>
    this.#change('queue.edit', { session: this.session, message }, message.id)

  /** Moves a message. The page shows it at its new place at once. */
  async move(id: string, to: number): Promise<void> {
    const before = this.items
    this.items = moved(before, id, to)
    const isMoved = await this.#change('queue.move', { session: this.session, id, to }, id)
    if (!isMoved) this.#show(before)
  }

  async remove(message: Queued): Promise<void> {
    const text = wrote(message)
    if (await this.#remove(message)) this.note = { about: 'removed', text }
  }

  /** Puts a message back into the composer; false if it was delivered before. */
  async takeBack(message: Queued): Promise<boolean> {
    if (!(await this.#remove(message))) return false
    putBack(this.session, wrote(message))
    return true
  }

  async #remove({ id }: Queued): Promise<boolean> {
    if (!(await this.#change('queue.remove', { session: this.session, id }, id))) return false
    writeDraft(queuedDraft(this.session, id), '')
    return true
  }

  /** Puts the text of the last removed message into the composer. */
  undo(): void {
    if (this.note?.about === 'removed') putBack(this.session, this.note.text)
    this.note = undefined
  }

  /** Begins a turn with the waiting messages. */
  async run(): Promise<void> {
    const [first] = this.items
    // Only a follow-up can begin a turn.
    const canBegin = this.items.some(({ verb }) => verb === 'follow_up')
    if (first && !canBegin && !(await this.edit({ ...first, verb: 'follow_up' }))) return
    try {
      await this.call('queue.run', { session: this.session })
    } catch (thrown) {
      this.onproblem(asApiError(thrown))
    }
  }

  /** Makes one change at a time, because the host may finish calls in another order than they were made. */
  #change(method: Change, args: Parameters<Call>[1], id?: string): Promise<boolean> {
    const asked = this.#changing.then(async () => {
      this.note = undefined
      try {
        const reply = await this.call(method, args as never)
        this.changes++
        this.#show((reply as QueueReply).queue ?? [])
        return true
      } catch (thrown) {
        this.#refuse(asApiError(thrown), id)
        return false
      }
    })
    this.#changing = asked
    return asked
  }

  /** Reads the queue again, after the changes that this page is making. */
  #read(): void {
    if (this.#isReading) return
    this.#isReading = true
    this.#changing = this.#changing.then(async () => {
      this.#isReading = false
      try {
        const reply = await this.call('queue.list', { session: this.session })
        this.#show(reply.queue ?? [])
      } catch {
        // The next change, or the next opening of the session, shows what waits.
      }
    })
  }

  #refuse(problem: ApiError, id: string | undefined): void {
    if (problem.code !== 'not_found' || id === undefined) {
      this.onproblem(problem)
      return
    }
    this.#deliver(id)
    this.note ??= { about: 'delivered' }
  }

  #deliver(id: string): void {
    this.#delivered.add(id)
    const message = this.items.find((other) => other.id === id)
    const owner = queuedDraft(this.session, id)
    const edited = readDraft(owner)
    writeDraft(owner, '')
    if (message && edited && edited !== message.text) {
      putBack(this.session, edited)
      this.note = { about: 'put_back' }
    }
    this.#show(this.items)
  }

  #show(items: readonly Queued[]): void {
    this.items = items.filter(({ id }) => !this.#delivered.has(id))
  }
}
