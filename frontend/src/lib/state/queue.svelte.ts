import { SvelteSet } from 'svelte/reactivity'
import { ApiError, asApiError, type Call } from '../api'
import { putBack, readDraft, writeDraft } from './drafts.svelte'
import type { Event, Queued, QueueReply, Verb } from '../types.gen'
import { moved } from '../model/order'

/** What became of a message that is no longer in the queue. */
export type Note =
  | { about: 'removed'; text: string }
  /** It was delivered before it could be changed. */
  | { about: 'delivered' }
  /** It was delivered while it was being edited; the edited text went to the composer. */
  | { about: 'put_back' }

type Change = 'queue.add' | 'queue.edit' | 'queue.move' | 'queue.remove'

/** What the user wrote while a turn runs and the agent has not read yet. */
export class Queue {
  items = $state.raw<readonly Queued[]>([])
  note = $state.raw<Note>()
  /** How often the queue was changed here; what was read before is older. */
  changes = 0
  /** Messages that were delivered: an answer that still has one is older. */
  #delivered = new SvelteSet<string>()
  #changing: Promise<unknown> = Promise.resolve()

  constructor(
    private readonly session: string,
    private readonly call: Call,
    private readonly onproblem: (problem: ApiError) => void,
  ) {}

  /** Takes the queue as it was read after the given number of changes. */
  load(items: readonly Queued[], changes: number): void {
    if (changes === this.changes) this.#show(items)
  }

  /** Takes out what events deliver. */
  receive(events: readonly Event[]): void {
    for (const event of events) {
      if (event.kind !== 'user_input' && event.kind !== 'steering_injected') continue
      if (event.data.queue_id) this.#deliver(event.data.queue_id)
    }
  }

  /** Puts a message at the end; false where it was not taken. */
  add = (verb: Verb, text: string): Promise<boolean> =>
    this.#change('queue.add', { session: this.session, verb, text })

  edit = (message: Queued): Promise<boolean> =>
    this.#change('queue.edit', { session: this.session, message }, message.id)

  /** Moves a message, which shows at once. */
  async move(id: string, to: number): Promise<void> {
    const before = this.items
    this.items = moved(before, id, to)
    const isMoved = await this.#change('queue.move', { session: this.session, id, to }, id)
    if (!isMoved) this.#show(before)
  }

  async remove({ id, text }: Queued): Promise<void> {
    if (!(await this.#change('queue.remove', { session: this.session, id }, id))) return
    writeDraft(id, '')
    this.note = { about: 'removed', text }
  }

  /** Gives the text of the message that was removed last to the composer. */
  undo(): void {
    if (this.note?.about === 'removed') putBack(this.session, this.note.text)
    this.note = undefined
  }

  /** Begins a turn with what waits. */
  async run(): Promise<void> {
    const [first] = this.items
    // Only what follows up can begin a turn.
    const canBegin = this.items.some(({ verb }) => verb === 'follow_up')
    if (first && !canBegin && !(await this.edit({ ...first, verb: 'follow_up' }))) return
    try {
      await this.call('queue.run', { session: this.session })
    } catch (thrown) {
      this.onproblem(asApiError(thrown))
    }
  }

  /** Changes go out one at a time: the host may finish calls in another order than they were made. */
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
    const edited = readDraft(id)
    writeDraft(id, '')
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
