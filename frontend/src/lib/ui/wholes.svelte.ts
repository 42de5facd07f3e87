/** Draws what is in view of a list as a whole: also those of its parts that are out of view. */
import type { VListHandle } from 'virtua/svelte'
import { afterPaint } from '../state/paint'

/** An item of a list. Successive items may be parts of one whole, which has a key. */
export type Part = { key: string; whole?: string }

/**
 * Keeps the parts of what is in view drawn, so that a text can be selected, read aloud and searched beyond the view.
 * A part takes a while to draw, so they come one after each frame, once nobody scrolls.
 */
export class Wholes {
  #kept = $state.raw<readonly Part[]>([])
  /** The whole that was asked for, which may not be in view yet. */
  #asked?: string | undefined
  #run = 0

  constructor(
    private readonly given: () => { items: readonly Part[]; list: VListHandle | undefined },
  ) {}

  /** The indexes of the parts that stay drawn. */
  among(items: readonly Part[]): number[] {
    if (this.#kept.length === 0) return []
    return this.#kept
      .map((part) => items.findIndex(({ key }) => key === part.key))
      .filter((at) => at >= 0)
  }

  /** Draws all parts at once of the whole that an item belongs to. */
  ask({ whole }: Part): void {
    this.end()
    this.#asked = whole
    if (whole !== undefined) this.#keep(this.given().items.filter((item) => item.whole === whole))
  }

  /** Lets go of what the user scrolled out of view, and waits. */
  scroll(): void {
    this.end()
    if (this.#kept.length === 0) return
    const wholes = this.#wholes()
    const kept = this.#kept.filter(({ whole }) => wholes.includes(whole))
    if (kept.length < this.#kept.length) this.#kept = kept
  }

  /** Draws the parts of what is in view, one after the other. */
  async rest(): Promise<void> {
    this.#asked = undefined
    this.scroll()
    const run = this.#run
    do {
      this.#keep(this.#inView().filter(({ whole }) => whole !== undefined))
      const wholes = this.#wholes()
      const isMissing = (item: Part) =>
        item.whole !== undefined && wholes.includes(item.whole) && !this.#has(item)
      const next = this.given().items.find(isMissing)
      if (!next) return
      this.#keep([next])
      await afterPaint()
    } while (run === this.#run)
  }

  /** Stops drawing. */
  end(): void {
    this.#run++
  }

  #inView(): readonly Part[] {
    const { items, list } = this.given()
    if (!list) return []
    const top = list.getScrollOffset()
    const [first, last] = [top, top + list.getViewportSize()].map((at) => list.findItemIndex(at))
    return items.slice(first, last! + 1)
  }

  #has = ({ key }: Part) => this.#kept.some((kept) => kept.key === key)

  #keep(parts: readonly Part[]): void {
    const more = parts.filter((part) => !this.#has(part))
    if (more.length > 0) this.#kept = [...this.#kept, ...more]
  }

  #wholes = (): (string | undefined)[] => [this.#asked, ...this.#inView().map(({ whole }) => whole)]
}
