import type { Call } from '../api'
import type { SandboxLevel } from '../types.gen'

/** How the system confines commands here. */
export class Confinement {
  /** Undefined until it was tried. */
  level = $state.raw<SandboxLevel>()
  #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  /** Asks again, because a choice or a settings file may have changed it. */
  async load(): Promise<void> {
    this.level = await this.#call('sandbox.level', {})
  }
}
