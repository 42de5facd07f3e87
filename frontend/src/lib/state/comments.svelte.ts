import { type Comment, isAt } from '../model/changes'
import type { Side } from '../model/diff'
import { recall, remember } from './remember'

const key = (owner: string) => `atelier.comments:${owner}`

/** Comments on changed lines that were not sent yet. They outlive a reload. */
export class Comments {
  all = $state.raw<readonly Comment[]>([])
  /** The comment that is being written, and the one that it changes. */
  writing = $state<Comment>()
  #changes: Comment | undefined
  #owner = ''

  /** Shows the comments of a session or, without one, of the project. */
  keep(owner: string): void {
    if (owner === this.#owner) return
    this.#owner = owner
    this.writing = undefined
    this.all = read(owner)
  }

  at(path: string, line: number, side: Side): readonly Comment[] {
    return this.all.filter((comment) => isAt(comment, path, line, side))
  }

  begin(comment: Comment, changes?: Comment): void {
    const isSame = this.writing && isAt(this.writing, comment.path, comment.line, comment.side)
    if (isSame && !changes) return
    this.#changes = changes
    this.writing = { ...comment }
  }

  cancel(): void {
    this.writing = undefined
  }

  /** Keeps what was written. */
  save(): void {
    const { writing } = this
    this.writing = undefined
    if (!writing?.text.trim()) return
    const rest = this.all.filter((comment) => comment !== this.#changes)
    this.#set([...rest, $state.snapshot(writing)])
  }

  remove(comment: Comment): void {
    this.#set(this.all.filter((other) => other !== comment))
  }

  clear(): void {
    this.#set([])
  }

  #set(all: readonly Comment[]): void {
    this.all = all
    remember(key(this.#owner), all.length > 0 ? JSON.stringify(all) : '')
  }
}

/** Removes the comments of an owner that no longer exists. */
export const dropComments = (owner: string): void => remember(key(owner), '')

function read(owner: string): readonly Comment[] {
  try {
    const all: unknown = JSON.parse(recall(key(owner)) || '[]')
    return Array.isArray(all) ? all : []
  } catch {
    return []
  }
}
