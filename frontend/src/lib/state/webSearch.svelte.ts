import type { Call } from '../api'
import type { SearchChange, SearchState } from '../types.gen'

/** Which search of the web sessions use. */
export class WebSearch {
  /** Undefined until it was asked for. */
  now = $state.raw<SearchState>()
  #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  async load(): Promise<void> {
    this.now = await this.#call('websearch.get', {})
  }

  async set(change: SearchChange): Promise<void> {
    this.now = await this.#call('websearch.set', change)
  }
}
