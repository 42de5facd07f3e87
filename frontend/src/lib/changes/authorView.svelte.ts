import { sessionsOf } from '../model/blame'
import type { BlameReply, BlameRun } from '../types.gen'

/** How long the pointer rests before the card opens, and how long it stays without it. */
const rest = 300
const stay = 250

/** The run whose card is shown, as it was when it was asked for, and where. */
type At = { reply: BlameReply; run: BlameRun; anchor: HTMLElement; pressed: boolean }

/** Who wrote a file, and whose card is shown. */
export class AuthorView {
  at = $state.raw<At>()
  readonly sessions = $derived.by(() => sessionsOf(this.reply ?? { path: '', total: 0 }))
  #timer?: ReturnType<typeof setTimeout>

  constructor(private readonly given: () => BlameReply | undefined) {}

  /** It changes when the file is read again. */
  get reply(): BlameReply | undefined {
    return this.given()
  }

  /** Shows a card at once, and moves the focus into it. */
  press(reply: BlameReply, run: BlameRun, anchor: HTMLElement): void {
    clearTimeout(this.#timer)
    this.at = { reply, run, anchor, pressed: true }
  }

  /** Shows a card once the pointer rests, unless one was pressed. */
  hover(reply: BlameReply, run: BlameRun, anchor: HTMLElement): void {
    if (this.at?.pressed) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => (this.at = { reply, run, anchor, pressed: false }), rest)
  }

  /** The pointer is in the card. */
  hold(): void {
    clearTimeout(this.#timer)
  }

  leave(): void {
    clearTimeout(this.#timer)
    if (!this.at?.pressed) this.#timer = setTimeout(() => this.close(), stay)
  }

  close(): void {
    clearTimeout(this.#timer)
    this.at = undefined
  }
}
