import type { Call } from '../api'
import type { SandboxCaches, SandboxLevel } from '../types.gen'

/** How the system confines commands here. */
export class Confinement {
  /** Undefined until it was tried. */
  level = $state.raw<SandboxLevel>()
  /** Undefined until they were measured. */
  caches = $state.raw<SandboxCaches>()
  #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  /** Asks again, because a choice or a settings file may have changed it. */
  async load(): Promise<void> {
    this.level = await this.#call('sandbox.level', {})
  }

  /** Measures the caches of confined commands. */
  async measure(): Promise<void> {
    this.caches = await this.#call('sandbox.caches', {})
  }

  /** Deletes them. */
  async clear(): Promise<void> {
    this.caches = await this.#call('sandbox.clear', {})
  }
}
