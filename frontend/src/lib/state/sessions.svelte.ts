import type { Call } from '../api'
import { freshEvents } from '../model/sync'
import { fold, newestFirst } from '../model/sessions'
import type { Envelope, SessionInfo } from '../types.gen'

/** The project's sessions, newest first, kept up to date by the events of all sessions. */
export class Sessions {
  list = $state.raw<readonly SessionInfo[]>([])
  #call: Call
  #loading: Promise<void> | undefined

  constructor(call: Call) {
    this.#call = call
  }

  /** Reads the list. Sessions that received newer events meanwhile stay as they are. */
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
   * Takes an envelope of any session. If its session is unknown or events before
   * it are missing, the list is read again.
   */
  receive(envelope: Envelope): void {
    if (!envelope.session) return // news of the whole project
    const known = this.find(envelope.session)
    const fresh = known && freshEvents(envelope, known.seq)
    if (!known || !fresh) {
      this.#loading ??= this.load()
        .catch(() => {}) // the next envelope reads it again
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
