import type { Call } from '../api'
import { oneAtATime } from '../model/oneAtATime'

/** How many characters are kept: enough to scroll back through, and few enough to paint 30 times a second. */
const longest = 32_000

/**
 * The end of a task's output. It is read only while it is shown, in pieces with
 * their offsets, so that a task that prints faster than it is shown skips ahead.
 */
export class Tail {
  text = $state.raw('')
  /** The output before the text was dropped. */
  isCut = $state(false)
  /** The task is no longer listed, and another task may have its id now. */
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

  /** Must be called when there may be more output. */
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

/** Cuts the text at the beginning of a line, unless that would drop too much. */
function fromALine(text: string): string {
  const at = text.indexOf('\n') + 1
  return at < 2000 ? text.slice(at) : text
}
