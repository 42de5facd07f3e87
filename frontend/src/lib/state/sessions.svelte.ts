import type { Call } from '../api'
import { freshEvents } from '../model/sync'
import { spent } from '../model/spending'
import type { Envelope, Event, SessionInfo, Usage } from '../types.gen'

/** The project's sessions, newest first, kept up to date by everyone's events. */
export class Sessions {
  list = $state.raw<readonly SessionInfo[]>([])
  #call: Call
  #loading: Promise<void> | undefined

  constructor(call: Call) {
    this.#call = call
  }

  /** Reads the list; what was received meanwhile and is newer stays. */
  async load(): Promise<void> {
    const read = (await this.#call('sessions.list', {})).sessions ?? []
    this.list = newestFirst(
      read.map((session) => {
        const known = this.find(session.id)
        return known && known.seq > session.seq ? known : session
      }),
    )
  }

  find(id: string): SessionInfo | undefined {
    return this.list.find((session) => session.id === id)
  }

  /**
   * Takes any session's envelope. One of an unknown session, or one that
   * something was left out before, makes the list be read again.
   */
  receive(envelope: Envelope): void {
    const known = this.find(envelope.session)
    const fresh = known && freshEvents(envelope, known.seq)
    if (!known || !fresh) {
      this.#loading ??= this.load()
        .catch(() => {}) // the next envelope asks again
        .finally(() => (this.#loading = undefined))
      return
    }
    const next = fresh.reduce(fold, known)
    if (next !== known) this.#replace(next)
  }

  async create(): Promise<SessionInfo> {
    const session = await this.#call('sessions.create', {})
    this.#replace(session)
    return session
  }

  async rename(id: string, title: string): Promise<void> {
    this.#replace(await this.#call('sessions.rename', { session: id, title }))
  }

  async remove(id: string): Promise<void> {
    await this.#call('sessions.delete', { session: id })
    this.list = this.list.filter((session) => session.id !== id && session.helper?.parent !== id)
  }

  #replace(session: SessionInfo): void {
    const others = this.list.filter((other) => other.id !== session.id)
    this.list = newestFirst([session, ...others])
  }
}

const newestFirst = (sessions: SessionInfo[]) =>
  sessions.toSorted((a, b) => b.updated_at - a.updated_at)

/** What an event changes in its session's line; the same object where nothing. */
export function fold(session: SessionInfo, event: Event): SessionInfo {
  const changed = change(session, event)
  return event.seq === undefined ? changed : { ...changed, seq: event.seq }
}

function change(session: SessionInfo, event: Event): SessionInfo {
  switch (event.kind) {
    case 'user_input':
    case 'turn_continued':
    case 'local_command_start':
      return { ...session, state: 'processing', updated_at: event.at }
    case 'approval_request':
      return { ...session, state: 'awaiting_input', updated_at: event.at }
    case 'approval_answer':
      return { ...session, state: 'processing' }
    case 'assistant_text_end':
    case 'side_request': {
      const usage = sum(session.usage, event.data.usage)
      return { ...session, usage, cost: spent(session.cost, event.data.cost) }
    }
    case 'retrying': {
      const { sent, usage: used, cost } = event.data
      if (!sent && !used) return session
      const usage = used ? sum(session.usage, used) : session.usage
      return { ...session, usage, cost: spent(session.cost, cost) }
    }
    case 'processing_end':
      return {
        ...session,
        state: event.data.next ? 'processing' : 'idle',
        last_end: event.data.reason,
        updated_at: event.at,
      }
    case 'local_command_end':
      return { ...session, state: 'idle', updated_at: event.at }
    case 'title':
      return { ...session, title: event.data.text }
    case 'settings':
      return { ...session, settings: event.data.settings }
    default:
      return session
  }
}

const sum = (a: Usage, b: Usage): Usage => ({
  input: a.input + b.input,
  cache_read: a.cache_read + b.cache_read,
  cache_write: a.cache_write + b.cache_write,
  output: a.output + b.output,
  reasoning: a.reasoning + b.reasoning,
  known: a.known && b.known,
})

export type Mark = 'running' | 'waiting' | 'rest' | 'failed'

/** The shape that stands for a session's state. */
export function markOf(session: SessionInfo): Mark {
  if (session.state === 'processing') return 'running'
  if (session.state === 'awaiting_input') return 'waiting'
  return session.last_end === 'failed' || session.last_end === 'crashed' ? 'failed' : 'rest'
}

/** The most urgent shape of a session and the agents that it started. */
export function familyMark(session: SessionInfo, agents: readonly SessionInfo[]): Mark {
  const marks = [session, ...agents].map(markOf)
  return (['waiting', 'running'] as const).find((mark) => marks.includes(mark)) ?? markOf(session)
}

/** A session with the agents that it started, oldest first. */
export type Family = { session: SessionInfo; agents: readonly SessionInfo[] }

/** Puts each agent under the session that started it; one whose session is gone stands alone. */
export function families(sessions: readonly SessionInfo[]): Family[] {
  const byParent = Object.fromEntries(sessions.map(({ id }) => [id, [] as SessionInfo[]]))
  const heads = sessions.filter((session) => {
    const siblings = session.helper && byParent[session.helper.parent]
    siblings?.push(session)
    return !siblings
  })
  return heads.map((session) => ({ session, agents: oldestFirst(byParent[session.id]!) }))
}

export const oldestFirst = (sessions: readonly SessionInfo[]) =>
  sessions.toSorted((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1))
