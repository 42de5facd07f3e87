import type { Call } from '../api'
import type { RoomSettings } from '../types.gen'

/** How room is made in long conversations. */
export class Room {
  /** Undefined until it was asked for. */
  now = $state.raw<RoomSettings>()
  #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  async load(): Promise<void> {
    this.now = await this.#call('context.room', {})
  }

  async set(change: Partial<RoomSettings>): Promise<void> {
    this.now = await this.#call('context.setRoom', { ...this.now, ...change })
  }
}
