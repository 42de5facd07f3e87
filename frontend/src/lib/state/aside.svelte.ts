import { type ApiError, asApiError, type Call } from '../api'
import type { AsideReply } from '../types.gen'

/** A side question about a session, which leaves its conversation as it was. */
export class Aside {
  /** The session that is asked; empty if there is no question. */
  session = $state('')
  question = $state('')
  busy = $state(false)
  reply = $state.raw<AsideReply>()
  problem = $state.raw<ApiError | null>(null)
  #newest = 0

  constructor(private call: Call) {}

  /** Opens a session for questions, and asks the first if there is one. */
  begin(session: string, question: string): void {
    this.close()
    this.session = session
    if (question) void this.ask(question)
  }

  async ask(question: string): Promise<void> {
    const now = ++this.#newest
    this.question = question
    this.reply = undefined
    this.problem = null
    this.busy = true
    try {
      const reply = await this.call('aside.ask', { session: this.session, question })
      if (now === this.#newest) this.reply = reply
    } catch (thrown) {
      if (now === this.#newest) this.problem = asApiError(thrown)
    }
    if (now === this.#newest) this.busy = false
  }

  /** Forgets the question. An answer that comes later is not shown. */
  close(): void {
    this.#newest++
    this.session = this.question = ''
    this.reply = undefined
    this.problem = null
    this.busy = false
  }
}
