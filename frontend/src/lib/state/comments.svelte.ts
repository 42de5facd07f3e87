import { SvelteMap } from 'svelte/reactivity'
import { type Comment, isAt } from '../model/changes'
import type { Side } from '../model/diff'
import { dropUnsent, readUnsent, writeUnsent } from './unsent.svelte'

const key = (owner: string) => `comments:${owner}`

/** Comments on changed lines that were not sent yet. They outlive the page, and other pages see them. */
export class Comments {
  /** The comment that is being written, and the one that it changes. */
  writing = $state<Comment>()
  #changes: Comment | undefined
  #owner = $state('')
  readonly all = $derived(read(this.#owner))
  /** Texts that were left half written, by their comment; they are there when it is begun again. */
  readonly #unfinished = new SvelteMap<string, string>()

  /** Shows the comments of a session or, without one, of the project. */
  keep(owner: string): void {
    if (owner === this.#owner) return
    this.leave()
    this.#owner = owner
  }

  at(path: string, line: number, side: Side): readonly Comment[] {
    return this.all.filter((comment) => isAt(comment, path, line, side))
  }

  begin(comment: Comment, changes?: Comment): void {
    const isSame = this.writing && isAt(this.writing, comment.path, comment.line, comment.side)
    if (isSame && !changes) return
    this.leave()
    this.#changes = changes
    this.writing = { ...comment, text: this.#unfinished.get(this.#name(comment)) ?? comment.text }
  }

  /** Ends the writing of a comment, which goes on when the comment is begun again. */
  leave(): void {
    const { writing } = this
    this.cancel()
    if (writing?.text.trim()) this.#unfinished.set(this.#name(writing), writing.text)
  }

  /** Ends the writing of a comment and drops what was written. */
  cancel(): void {
    if (this.writing) this.#unfinished.delete(this.#name(this.writing))
    this.writing = undefined
  }

  /** Keeps what was written. */
  save(): void {
    const { writing } = this
    this.cancel()
    if (!writing?.text.trim()) return
    this.#change(this.#owner, this.#changes ? [this.#changes] : [], [$state.snapshot(writing)])
  }

  /** Names a comment among those that were begun. */
  #name({ path, line, side }: Comment): string {
    return JSON.stringify([this.#owner, path, line, side, this.#changes?.text])
  }

  remove(...gone: readonly Comment[]): void {
    this.#change(this.#owner, gone)
  }

  /**
   * Hands the comments over, and removes exactly those if that worked: meanwhile others may have been written, and the
   * message may have begun a session, whose comments are shown from then on.
   */
  async send(give: (comments: readonly Comment[]) => Promise<boolean>): Promise<void> {
    const owner = this.#owner
    const { all } = this
    if (await give(all)) this.#change(owner, all)
  }

  /** Changes what is stored by now, also by another page. */
  #change(owner: string, gone: readonly Comment[], added: readonly Comment[] = []): void {
    const rest = read(owner).filter((comment) => !gone.some((other) => isSame(comment, other)))
    const all = [...rest, ...added]
    writeUnsent(key(owner), all.length > 0 ? JSON.stringify(all) : '')
  }
}

const isSame = (a: Comment, b: Comment): boolean =>
  isAt(a, b.path, b.line, b.side) && a.text === b.text

/** Removes the comments of an owner that no longer exists. */
export const dropComments = (owner: string): void => dropUnsent(key(owner))

function read(owner: string): readonly Comment[] {
  try {
    const all: unknown = JSON.parse(readUnsent(key(owner)) || '[]')
    return Array.isArray(all) ? all : []
  } catch {
    return []
  }
}
