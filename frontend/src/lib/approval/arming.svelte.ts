/** How long after a question is shown nothing answers it, because a press may have been meant for something else. */
const quietMs = 400

/** Decides when a question takes answers. Each press in the quiet period prolongs it. */
export class Arming {
  armed = $state(false)
  #timer?: ReturnType<typeof setTimeout>

  /** Begins the quiet period. The function that it returns ends it without arming. */
  start(): () => void {
    this.armed = false
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => (this.armed = true), quietMs)
    return () => clearTimeout(this.#timer)
  }

  /** Reports whether a press counts. */
  takes(): boolean {
    if (!this.armed) this.start()
    return this.armed
  }
}
