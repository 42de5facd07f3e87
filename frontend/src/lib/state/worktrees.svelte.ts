import type { WorktreeFate, WorktreeInfo } from '../types.gen'
import { Resource } from './resource.svelte'

/** The git worktrees that were made for sessions and agents of the project. */
export class Worktrees extends Resource {
  list = $state.raw<readonly WorktreeInfo[]>([])
  limit = $state(0)

  readonly load = this.reading(
    () => this.call('worktrees.list', {}),
    ({ worktrees = [], limit }) => {
      this.list = worktrees
      this.limit = limit
    },
  )

  /** Removes a worktree, with what would be lost if `all` is set; undefined if it was refused. */
  async remove(name: string, all: boolean): Promise<WorktreeFate | undefined> {
    const fate = await this.attempt(() => this.call('worktrees.remove', { name, all }))
    await this.load()
    return fate
  }
}
