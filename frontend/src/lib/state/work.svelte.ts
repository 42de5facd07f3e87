import { type ApiError, asApiError, type Call } from '../api'
import { oneAtATime } from '../model/oneAtATime'
import type { Work } from '../types.gen'

/** What works, waits, failed and was done in all projects on this machine. */
export class AllWork {
  isOpen = $state(false)
  list = $state.raw<readonly Work[]>()
  more = $state(0)
  problem = $state.raw<ApiError | null>(null)
  #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  open(): void {
    this.isOpen = true
    this.problem = null
    void this.load()
  }

  close(): void {
    this.isOpen = false
    this.list = undefined
  }

  readonly load = oneAtATime(async () => {
    try {
      const { work = [], more = 0 } = await this.#call('projects.work', {})
      this.list = work
      this.more = more
    } catch (thrown) {
      this.problem = asApiError(thrown)
    }
  })

  /** Stops a session with its agents, in whatever process works on it. */
  async stop(session: string): Promise<void> {
    this.problem = null
    try {
      await this.#call('projects.stop', { session })
    } catch (thrown) {
      this.problem = asApiError(thrown)
    }
    await this.load()
  }
}
