import type { Call } from '../api'
import type { CostSummary } from '../types.gen'

/** What the project and its open session cost. */
export class Costs {
  project = $state.raw<CostSummary>()
  /** The costs of the open session; undefined if none is open or they were not read yet. */
  session = $state.raw<CostSummary>()
  #of = ''
  #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  /** Follows a session, whose costs are to be read. */
  follow(session = ''): void {
    if (this.#of !== session) this.session = undefined
    this.#of = session
  }

  /** Reads both sums. An answer is dropped if another session was opened meanwhile. */
  async load(session = ''): Promise<void> {
    this.follow(session)
    const [project, own] = await Promise.all([
      this.#call('costs.summary', {}),
      session ? this.#call('costs.summary', { session }) : undefined,
    ])
    if (this.#of !== session) return
    this.project = project
    this.session = own
  }
}
