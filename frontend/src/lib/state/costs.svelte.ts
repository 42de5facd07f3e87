import type { Call } from '../api'
import type { CostSummary } from '../types.gen'

/** What the project and its open session have cost. */
export class Costs {
  project = $state.raw<CostSummary>()
  /** Of the open session; undefined where none is open or it is not read yet. */
  session = $state.raw<CostSummary>()
  #of = ''
  #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  /** Reads both sums; an answer about a session that was left meanwhile is dropped. */
  async load(session = ''): Promise<void> {
    if (this.#of !== session) this.session = undefined
    this.#of = session
    const [project, own] = await Promise.all([
      this.#call('costs.summary', {}),
      session ? this.#call('costs.summary', { session }) : undefined,
    ])
    if (this.#of !== session) return
    this.project = project
    this.session = own
  }
}
