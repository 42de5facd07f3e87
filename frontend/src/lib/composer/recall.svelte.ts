import { isPlain } from '../ui/keys'

/** Goes back through what was sent before with the arrow keys, from an empty field. */
export class Recall {
  #sent: readonly string[] = []
  /** The place of the text that is shown; -1 is the empty field after the newest. */
  #at = -1
  #shown = ''

  constructor(
    private readonly load: () => Promise<readonly string[]>,
    private readonly write: (text: string) => unknown,
  ) {}

  /** Handles a key of the field; false if it is not for this. A recalled text that was changed is a text like any other. */
  press(event: KeyboardEvent, text: string): boolean {
    if (!isPlain(event)) return false
    const isShown = this.#at >= 0 && text === this.#shown
    if (event.key === 'ArrowUp' && (text === '' || isShown)) void this.#step(isShown ? 1 : 0)
    else if (event.key === 'ArrowDown' && isShown) void this.#step(-1)
    else return false
    event.preventDefault()
    return true
  }

  /** Goes to an older text (1) or a newer one (-1); 0 begins with the newest. */
  async #step(by: -1 | 0 | 1): Promise<void> {
    if (by === 0) {
      this.#at = -1
      this.#sent = await this.load()
    }
    const next = Math.min(this.#at + (by || 1), this.#sent.length - 1)
    if (next === this.#at) return
    this.#at = next
    this.#shown = this.#sent[next] ?? ''
    this.write(this.#shown)
  }
}
