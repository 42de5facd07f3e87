import { type ApiError, asApiError, type Call } from '../api'
import { oneAtATime } from '../model/oneAtATime'
import type { MemoryReply, MemorySettings } from '../types.gen'

/** A file that is edited: what was read of it, and what it is to say. */
export type EditedMemory = { path: string; digest: string; text: string }

/** What agents are told of the project in every session. */
export class Memory {
  list = $state.raw<MemoryReply>()
  edited = $state<EditedMemory>()
  busy = $state(false)
  problem = $state.raw<ApiError | null>(null)
  #of: string | undefined
  #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  /** Reads what the models of a session, or of new ones, are told. */
  follow(session: string | undefined): void {
    this.#of = session
    void this.load()
  }

  readonly load = oneAtATime(async () => {
    const session = this.#of
    try {
      const list = await this.#call('memory.list', { session })
      if (this.#of === session) this.list = list
    } catch (thrown) {
      this.problem = asApiError(thrown)
    }
  })

  edit(path: string): Promise<void> {
    return this.#attempt(async (session) => {
      const { text, digest } = await this.#call('memory.read', { session, path })
      this.edited = { path, digest, text }
    })
  }

  save(): Promise<void> {
    return this.#attempt(async (session) => {
      if (!this.edited) return
      this.list = await this.#call('memory.save', { session, ...this.edited })
      this.edited = undefined
    })
  }

  choose(settings: MemorySettings): Promise<void> {
    return this.#attempt(async (session) => {
      this.list = await this.#call('memory.set', { session, settings })
    })
  }

  async #attempt(work: (session: string | undefined) => Promise<void>): Promise<void> {
    if (this.busy) return
    this.busy = true
    this.problem = null
    try {
      await work(this.#of)
    } catch (thrown) {
      this.problem = asApiError(thrown)
    } finally {
      this.busy = false
    }
  }
}
