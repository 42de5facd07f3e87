/** For so long the next question may take the focus back from the composer. */
const mostGapMs = 10_000

/** Moves the focus on when the focused question is answered and disappears. */
export class QuestionFocus {
  #hadQuestion = false
  /** The field that got the focus because no question was left, and its text at that time. */
  #standIn?: { field: Element | null; text: string; since: number }

  /**
   * Takes how to focus the next question, or undefined if there is none. The focus only moves if it
   * got lost, or if it is still in the untouched composer after the previous question.
   */
  move(focusNext: (() => void) | undefined, focusComposer: () => void): void {
    const hadQuestion = this.#hadQuestion
    const isFree = document.activeElement === document.body || this.#isStandingIn()
    this.#hadQuestion = focusNext !== undefined
    this.#standIn = undefined
    if (!isFree) return
    if (focusNext) {
      focusNext()
      return
    }
    focusComposer()
    const field = document.activeElement
    if (hadQuestion) this.#standIn = { field, text: textIn(field), since: performance.now() }
  }

  #isStandingIn(): boolean {
    if (!this.#standIn) return false
    const { field, text, since } = this.#standIn
    const isUntouched = document.activeElement === field && textIn(field) === text
    return isUntouched && performance.now() - since < mostGapMs
  }
}

const textIn = (field: Element | null) => (field instanceof HTMLTextAreaElement ? field.value : '')
