import { announced, isWanted, type NoticeKind } from '../model/notices'
import { type Family, familyMark, type Mark } from '../model/sessions'
import type { Notices as Choice, SessionInfo } from '../types.gen'

/** A state is announced only after it lasted this long. */
export const settleMs = 3000

type Host = {
  /** Whether the user looks at the page. */
  isInFront: () => boolean
  choice: () => Choice | undefined
  notify: (kind: NoticeKind, session: SessionInfo) => void
}

/** Announces the new states of sessions while the page is not in front: one notice for a session's state. */
export class Notices {
  #host: Host
  #marks = new Map<string, Mark>()
  #timers = new Map<string, ReturnType<typeof setTimeout>>()

  constructor(host: Host) {
    this.#host = host
  }

  /** Takes the sessions as they are now. A session that was not known announces nothing. */
  follow(families: readonly Family[]): void {
    const before = this.#marks
    this.#marks = new Map()
    for (const { session, agents } of families) {
      const mark = familyMark(session, agents)
      const last = before.get(session.id)
      this.#marks.set(session.id, mark)
      if (last === mark) continue
      this.#forget(session.id)
      const kind = last && announced(last, mark, session)
      if (kind) this.#later(kind, session)
    }
    for (const id of before.keys()) if (!this.#marks.has(id)) this.#forget(id)
  }

  stop(): void {
    for (const id of [...this.#timers.keys()]) this.#forget(id)
  }

  #later(kind: NoticeKind, session: SessionInfo): void {
    const timer = setTimeout(() => {
      this.#timers.delete(session.id)
      const { isInFront, choice, notify } = this.#host
      if (!isInFront() && isWanted(kind, choice())) notify(kind, session)
    }, settleMs)
    this.#timers.set(session.id, timer)
  }

  #forget(id: string): void {
    clearTimeout(this.#timers.get(id))
    this.#timers.delete(id)
  }
}
