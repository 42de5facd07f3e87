import { newestKept, keptAt } from '../model/todos'
import type { Call } from '../api'
import type { Conversation } from './conversation.svelte'

/** What a tool keeps in a session, whatever part of the log the page has read. */
export class Kept {
  #read = $state.raw<{ session: string; seq: number; state: unknown }>()

  constructor(
    private readonly call: Call,
    readonly tool: string,
  ) {}

  /** What it keeps; undefined if it keeps nothing, or that is not read yet. */
  of({ id, left, info }: Conversation): unknown {
    const here = newestKept(left.entries, this.tool)
    const at = info && keptAt(info, this.tool)
    if (here && here.seq >= (at?.seq ?? 0)) return here.state
    const isRead = at && this.#read?.session === id && this.#read.seq === at.seq
    return isRead ? this.#read!.state : undefined
  }

  /** Reads what is further back in the log than the page has read. */
  async load(conversation: Conversation): Promise<void> {
    const { id, info } = conversation
    const at = info && keptAt(info, this.tool)
    if (!at || this.of(conversation) !== undefined) return
    const { seq } = at
    const reply = await this.call('conversation.event', { session: id, seq }).catch(() => undefined)
    const event = reply?.event
    if (event?.kind !== 'tool_call_end') return
    this.#read = { session: id, seq, state: event.data.details?.kept?.state }
  }
}
