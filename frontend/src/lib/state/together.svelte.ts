import { type ApiError, asApiError, type Call } from '../api'
import { changesTogether } from '../model/board'
import type { AgentKinds, Envelope, TaskEdit, Together as Shared, Tree } from '../types.gen'

/** What the open session and its agents share: the board of tasks, teams and messages. */
export class Together {
  /** What was read last; undefined before. */
  shown = $state.raw<Shared>()
  /** The limits that they share, and what they took of them; undefined before they were read. */
  tree = $state.raw<Tree>()
  /** The kinds of agents that there are; undefined before they were read. */
  kinds = $state.raw<AgentKinds>()
  /** Why it could not be read, or a task not be changed. */
  problem = $state.raw<ApiError | null>(null)
  #call: Call
  #session = ''
  #reading = false
  #again = false

  constructor(call: Call) {
    this.#call = call
  }

  /** Reads what a session shares and follows it; an empty id follows none. */
  follow(session: string): void {
    if (session === this.#session) return
    this.#session = session
    this.shown = this.tree = undefined
    this.problem = null
    void this.load()
  }

  /** Reads it again, once more if something changes meanwhile. */
  async load(): Promise<void> {
    if (this.#reading) {
      this.#again = true
      return
    }
    this.#reading = true
    do {
      this.#again = false
      const session = this.#session
      if (!session) break
      try {
        const [shown, tree] = await Promise.all([
          this.#call('agents.together', { session }),
          this.#call('agents.tree', { session }),
        ])
        if (session === this.#session) [this.shown, this.tree] = [shown, tree]
        else this.#again = true
      } catch (thrown) {
        if (session === this.#session) this.problem = asApiError(thrown)
      }
    } while (this.#again)
    this.#reading = false
  }

  async loadKinds(): Promise<void> {
    try {
      this.kinds = await this.#call('agents.kinds', {})
    } catch (thrown) {
      this.problem = asApiError(thrown)
    }
  }

  /** Adds or changes a task; false if it was refused. */
  async edit(change: Omit<TaskEdit, 'session'>): Promise<boolean> {
    const session = this.#session
    this.problem = null
    try {
      const shown = await this.#call('agents.task', { session, ...change })
      if (session === this.#session) this.shown = shown
      return true
    } catch (thrown) {
      this.problem = asApiError(thrown)
      return false
    }
  }

  receive(envelope: Envelope): void {
    if (this.#session && changesTogether(envelope)) void this.load()
    // Which also comes when a file of an agent changes.
    if (this.kinds && envelope.events?.some(({ kind }) => kind === 'hooks_change'))
      void this.loadKinds()
  }
}
