import type { MemoryReply, MemorySettings } from '../types.gen'
import { Resource } from './resource.svelte'

/** A file that is edited: what was read of it, and what it is to say. */
export type EditedMemory = { path: string; digest: string; text: string }

/** What agents are told of the project in every session. */
export class Memory extends Resource {
  list = $state.raw<MemoryReply>()
  edited = $state<EditedMemory>()
  #of: string | undefined

  /** Reads what the models of a session, or of new ones, are told. */
  follow(session: string | undefined): void {
    this.#of = session
    void this.load()
  }

  readonly load = this.reading(
    () => this.call('memory.list', { session: this.#of }),
    (list) => (this.list = list),
    () => this.#of,
  )

  edit(path: string): Promise<void> {
    return this.#attempt(async (session) => {
      const { text, digest } = await this.call('memory.read', { session, path })
      this.edited = { path, digest, text }
    })
  }

  save(): Promise<void> {
    return this.#attempt(async (session) => {
      if (!this.edited) return
      this.list = await this.call('memory.save', { session, ...this.edited })
      this.edited = undefined
    })
  }

  choose(settings: MemorySettings): Promise<void> {
    return this.#attempt(async (session) => {
      this.list = await this.call('memory.set', { session, settings })
    })
  }

  async #attempt(work: (session: string | undefined) => Promise<void>): Promise<void> {
    if (!this.busy) await this.attempt(() => work(this.#of))
  }
}
