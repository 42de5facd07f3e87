import type { Snippet } from 'svelte'
import type { DiffLine, Hunk, Side } from '../model/diff'

/** What is drawn besides the lines of a diff. */
export type Drawing = {
  /** It is a whole file in which nothing changed: its lines have one number. */
  plain?: boolean
  /** What can be done with a hunk. */
  actions?: Snippet<[Hunk]>
  oncomment?: (line: number, side: Side, text: string) => void
  /** What is under a line. */
  comments?: Snippet<[number, Side]>
  hasComments?: (line: number, side: Side) => boolean
  /** What is drawn before a line, which is given with the line above it. */
  gutter?: Snippet<[line?: DiffLine, above?: DiffLine]>
}
