/** The tree of the sessions that were forked from each other. */
import type { SessionInfo } from '../types.gen'
import { oldestFirst } from './sessions'

export type Branch = {
  session: SessionInfo
  /** How many forks it is away from the root. */
  depth: number
}

/** The branches as a tree, each above what was forked from it. A fork whose origin was removed is a root. */
export function treeOf(sessions: readonly SessionInfo[]): Branch[] {
  const known = sessions.map(({ id }) => id)
  const all = oldestFirst(sessions)
  const tree: Branch[] = []
  const add = (session: SessionInfo, depth: number) => {
    if (tree.some((branch) => branch.session === session)) return
    tree.push({ session, depth })
    for (const fork of all) if (fork.origin?.session === session.id) add(fork, depth + 1)
  }
  for (const session of all) {
    if (!session.origin || !known.includes(session.origin.session)) add(session, 0)
  }
  for (const session of all) add(session, 0) // of a circle, which only a damaged log has
  return tree
}
