import { isCovered } from '../ui/spare'

/** Moves the focus to questions and back to where it was. */
export class DockFocus {
  /** Whether the focus was in the dock, and may have been lost with an answered question. */
  #held = false
  /** Where the focus was before it came to the dock. */
  #back: HTMLElement | null = null
  /** Whether the user typed when the dock took the focus, and may go on typing. */
  isSudden = false

  /** Is told of each focus event in the dock. */
  entered(from: EventTarget | null, dock: HTMLElement): void {
    if (from instanceof HTMLElement && !dock.contains(from)) this.#back = from
    this.#held = true
  }

  /** Is told when the focus leaves an element of the dock. */
  left(to: EventTarget | null, dock: HTMLElement): void {
    if (to instanceof Node && !dock.contains(to)) this.#held = false
  }

  /**
   * Another question is shown, by its target. It gets the focus if the question before it had it,
   * or if nothing is interrupted: nothing is written, no dialog is open, and no other field is in use.
   */
  shown(target: HTMLElement, dock: HTMLElement, isWritten: boolean): void {
    const active = document.activeElement
    const isLost = active === document.body || active === null
    if (dock.contains(active) || (isLost && this.#held)) {
      this.isSudden = false
      target.focus({ preventScroll: true })
      return
    }
    const isComposer = active instanceof HTMLElement && active.dataset.composer !== undefined
    if (isWritten || isCovered() || (isTextField(active) && !isComposer)) return
    this.isSudden = isComposer
    target.focus({ preventScroll: true })
  }

  /** The user goes to the dock. */
  go(target: HTMLElement): void {
    this.isSudden = false
    target.focus({ preventScroll: true })
  }

  /** No question is left. */
  emptied(focusComposer: () => void): void {
    const active = document.activeElement
    if (active !== document.body && active !== null) return
    const back = this.#held && this.#back?.isConnected && !isCovered() ? this.#back : null
    this.#held = false
    this.#back = null
    if (isCovered()) return
    back?.focus({ preventScroll: true })
    if (document.activeElement === document.body) focusComposer()
  }
}

const isTextField = (element: Element | null) =>
  element instanceof HTMLInputElement ||
  element instanceof HTMLTextAreaElement ||
  (element instanceof HTMLElement && element.isContentEditable)
