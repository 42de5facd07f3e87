import { type ApiError, asApiError, type Call } from '../api'
import { oneAtATime } from '../model/oneAtATime'
import type { WorktreeFate, WorktreeInfo } from '../types.gen'

/** The git worktrees that were made for sessions and agents of the project. */
export class Worktrees {
  list = $state.raw<readonly WorktreeInfo[]>([])
  limit = $state(0)
  /** Why they could not be listed, or one not be removed. */
  problem = $state.raw<ApiError | null>(null)
  busy = $state(false)
  #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  readonly load = oneAtATime(async () => {
    try {
      const { worktrees = [], limit } = await this.#call('worktrees.list', {})
      this.list = worktrees
      this.limit = limit
    } catch (thrown) {
      this.problem = asApiError(thrown)
    }
  })

  /** Removes a worktree, with what would be lost if `all` is set; undefined if it was refused. */
  async remove(name: string, all: boolean): Promise<WorktreeFate | undefined> {
    this.busy = true
    this.problem = null
    let fate: WorktreeFate | undefined
    try {
      fate = await this.#call('worktrees.remove', { name, all })
    } catch (thrown) {
      this.problem = asApiError(thrown)
    }
    this.busy = false
    await this.load()
    return fate
  }
}
