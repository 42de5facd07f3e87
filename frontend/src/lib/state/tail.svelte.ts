import type { Call } from '../api'
import { oneAtATime } from '../model/oneAtATime'

/** More than anybody scrolls back through in a panel, and little enough to paint 30 times a second. */
const longest = 32_000

/**
 * The newest of what a task printed. It is read only while somebody looks, in
 * pieces that say where they belong, so that a task that prints faster than it
 * can be shown skips ahead.
 */
export class Tail {
  text = $state.raw('')
  /** What was printed before text is not shown. */
  isCut = $state(false)
  /** The task is on no list any more; another one may have its id. */
  isOver = false
  #end = 0
  #onlookers = 0
  #read: () => Promise<void>

  constructor(session: string, task: string, call: Call) {
    this.#read = oneAtATime(async () => {
      if (this.isOver) return
      const request = { session, task, from: this.#end }
      const piece = await call('tasks.output', request).catch(() => undefined)
      if (piece) this.#take(piece)
    })
  }

  /** Reads the output and keeps reading until the returned function is called. */
  follow(): () => void {
    this.#onlookers++
    void this.#read()
    return () => void this.#onlookers--
  }

  /** Told when there is, or may be, more. */
  more(): void {
    if (this.#onlookers > 0) void this.#read()
  }

  #take({ text, begin, end }: { text: string; begin: number; end: number }): void {
    const isGap = begin > this.#end
    this.#end = end
    if (text === '') return
    const whole = isGap ? text : this.text + text
    this.isCut = this.isCut || isGap || whole.length > longest
    this.text = this.isCut ? fromALine(whole.slice(-longest)) : whole
  }
}

/** Begins at a line, unless that would take too much away. */
function fromALine(text: string): string {
  const at = text.indexOf('\n') + 1
  return at < 2000 ? text.slice(at) : text
}
