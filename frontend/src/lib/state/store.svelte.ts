import type { Call } from '../api'
import type { MovedFolder, StoreState } from '../types.gen'
import { Attempts } from './resource.svelte'

/** How often the page asks while the whole database is being checked. */
const askEveryMs = 2_000

/** How the database is, and sessions of a moved folder that seem to belong to this project. */
export class Store extends Attempts {
  /** Undefined until it was asked for. */
  health = $state.raw<StoreState>()
  /** The sessions that can be moved here. */
  offer = $state.raw<MovedFolder>()
  /** Those that were moved, until the notice is dismissed. */
  brought = $state.raw<MovedFolder>()
  #onmove: () => Promise<void>

  constructor(call: Call, onmove: () => Promise<void>) {
    super(call)
    this.#onmove = onmove
  }

  async load(): Promise<void> {
    try {
      await this.#check()
      const moved = await this.call('project.moved', {})
      this.offer = moved.folder ? moved : undefined
    } catch {
      // Nothing is lost: the strip stays away, and the next page asks again.
    }
  }

  async #check(): Promise<void> {
    this.health = await this.call('store.health', {})
    if (this.health.checking) setTimeout(() => void this.#check().catch(() => {}), askEveryMs)
  }

  /** Dismisses the notice about lost events. */
  accept = () =>
    this.attempt(async () => {
      this.health = await this.call('store.accept', {})
    })

  bringOver = () =>
    this.attempt(async () => {
      if (!this.offer) return
      this.brought = await this.call('project.bring_over', this.offer)
      this.offer = undefined
      await this.#onmove()
    })

  takeBack = () =>
    this.attempt(async () => {
      this.offer = await this.call('project.take_back', {})
      this.brought = undefined
      await this.#onmove()
    })

  leave = () =>
    this.attempt(async () => {
      if (this.offer) await this.call('project.leave_there', this.offer)
      this.offer = undefined
    })
}
