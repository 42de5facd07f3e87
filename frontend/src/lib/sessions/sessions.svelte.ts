import type { Call } from '../api'
import type { Envelope, Event, SessionInfo } from '../types.gen'

/** The project's sessions, newest first, kept up to date by everyone's events. */
export class Sessions {
  list = $state.raw<readonly SessionInfo[]>([])
  #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  async load(): Promise<void> {
    this.list = newestFirst((await this.#call('sessions.list', {})).sessions ?? [])
  }

  /** Takes any session's envelope; one of an unknown session makes the list be read again. */
  receive(envelope: Envelope): void {
    const known = this.list.find((session) => session.id === envelope.session)
    if (!known) {
      void this.load()
      return
    }
    const next = (envelope.events ?? []).reduce(fold, known)
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
    this.list = this.list.filter((session) => session.id !== id)
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
  switch (event.kind) {
    case 'user_input':
      return { ...session, state: 'processing', updated_at: event.at }
    case 'approval_request':
      return { ...session, state: 'awaiting_input', updated_at: event.at }
    case 'approval_answer':
      return { ...session, state: 'processing' }
    case 'processing_end':
      return {
        ...session,
        state: event.data.next ? 'processing' : 'idle',
        last_end: event.data.reason,
        updated_at: event.at,
      }
    case 'title':
      return { ...session, title: event.data.text }
    case 'settings':
      return { ...session, settings: event.data.settings }
    default:
      return session
  }
}

export type Mark = 'running' | 'waiting' | 'rest' | 'failed'

/** The shape that stands for a session's state. */
export function markOf(session: SessionInfo): Mark {
  if (session.state === 'processing') return 'running'
  if (session.state === 'awaiting_input') return 'waiting'
  return session.last_end === 'failed' || session.last_end === 'crashed' ? 'failed' : 'rest'
}
