import { type ApiError, asApiError, type Call } from '../api'
import { oneAtATime } from '../model/oneAtATime'
import type { Envelope, TimeSpan } from '../types.gen'

/** What took the time of the open session. */
export class Trace {
  spans = $state.raw<readonly TimeSpan[]>([])
  /** Whether earlier parts of the session are not shown. */
  more = $state(false)
  failure = $state.raw<ApiError | null>(null)
  /** Counts what happened in the session. */
  news = $state(0)
  #of: string | undefined
  #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  follow(session: string | undefined): void {
    if (this.#of === session) return
    this.#of = session
    this.spans = []
    this.more = false
    this.failure = null
    this.news++
  }

  receive({ session, events = [] }: Envelope): void {
    if (session === this.#of && events.some(({ kind }) => !kind.endsWith('_delta'))) this.news++
  }

  readonly load = oneAtATime(async () => {
    const session = this.#of
    if (!session) return
    try {
      const { spans, more } = await this.#call('conversation.trace', { session })
      if (session !== this.#of) return
      this.spans = spans ?? []
      this.more = more ?? false
      this.failure = null
    } catch (thrown) {
      if (session === this.#of) this.failure = asApiError(thrown)
    }
  })
}
