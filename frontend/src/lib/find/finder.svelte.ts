/** The search in a conversation: its hits, and which of them is shown. */
import type { FindReply, Hit } from '../types.gen'

/** How many hits are kept. Nobody steps through more of them. */
const mostHits = 2000

type Search = (text: string, before: number) => Promise<FindReply | undefined>

export class Finder {
  text = $state('')
  /** In the order of the conversation. */
  hits = $state.raw<readonly Hit[]>([])
  /** The index of the hit that is shown, counted from the newest one: older hits are still being added. */
  #back = $state(0)
  searching = $state(false)
  /** How many places are not among the hits because they were taken back. */
  takenBack = $state(0)
  /** Whether there may be older hits than those that are known. */
  more = $state(false)
  #run = 0

  readonly at = $derived(this.hits.length - 1 - this.#back)
  readonly current = $derived(this.hits[this.at])

  constructor(private readonly search: Search) {}

  /** Searches the whole conversation, the newest part first. A newer search ends an older one. */
  async find(text: string): Promise<void> {
    const run = ++this.#run
    this.text = text
    this.hits = []
    this.#back = 0
    this.more = false
    this.takenBack = 0
    this.searching = text !== ''
    if (text === '') return
    let before = 0
    do {
      const reply = await this.search(text, before)
      if (run !== this.#run) return
      this.hits = [...(reply?.hits ?? []).toReversed(), ...this.hits]
      this.takenBack += reply?.taken_back ?? 0
      before = reply?.next ?? 0
    } while (before > 0 && this.hits.length < mostHits)
    this.more = before > 0
    this.searching = false
  }

  /** Goes to the next (1) or previous (-1) hit, and around at the ends. */
  step(by: 1 | -1): void {
    const { length } = this.hits
    if (length > 0) this.#back = (this.#back - by + length) % length
  }

  end(): void {
    this.#run++
    this.searching = false
    this.hits = []
  }
}
