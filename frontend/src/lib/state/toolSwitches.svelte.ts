import type { Call } from '../api'
import type { ToolSwitch } from '../types.gen'

/** The tools that can be switched off for sessions, by tier. */
export class ToolSwitches {
  /** Undefined until they were asked for. */
  all = $state.raw<ToolSwitch[]>()
  #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  async load(): Promise<void> {
    this.all = (await this.#call('tools.list', {})).tools ?? []
  }
}
