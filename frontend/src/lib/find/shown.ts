/** Shows the hits of a search in the rows that are drawn. */
import './find.css'
import { tick } from 'svelte'
import type { Conversation } from '../state/conversation.svelte'
import type { Hit } from '../types.gen'
import { clearHighlights, highlight, rangesIn, scrollTo } from './marks'
import { entryOf, isInside, placeOf } from './places'

/** How many frames a row may take until it is drawn, and how many it may then still move. */
const patience = 40
const settling = 4

const frame = () => new Promise(requestAnimationFrame)

/** The hits of a search, and which of them is shown. */
type Hits = { readonly hits: readonly Hit[]; readonly current: Hit | undefined }

export class Shown {
  /** The row of the current hit, by the key of its entry. */
  #key?: string
  #pattern?: RegExp
  #run = 0

  constructor(
    private readonly list: () => Element | undefined,
    private readonly finder: Hits,
    /** Scrolls an entry into view, so that it is drawn. */
    private readonly reveal: (key: string) => void,
  ) {}

  /** Loads and draws a hit's entry, unfolds it and scrolls to the hit. */
  async go(hit: Hit | undefined, conversation: Conversation): Promise<void> {
    const run = ++this.#run
    this.#key = undefined
    this.#mark()
    if (!hit) return
    await conversation.log.reach(hit.seq)
    if (run !== this.#run) return
    const entry = entryOf(conversation.log.shown.view.entries, hit)
    if (!entry) return
    this.#key = entry.key
    if (isInside(hit)) conversation.unfolded.set(entry.key, true)
    await tick()
    this.reveal(entry.key)
    let still = 0
    for (let n = 1; n <= patience && still < settling; n++) {
      await frame()
      if (run !== this.#run) return
      if (this.#rows().some((row) => row.dataset.entry === entry.key)) {
        still++
        this.#show()
      } else if (n % 8 === 0) this.reveal(entry.key)
    }
  }

  /** Marks a pattern in the rows that are drawn, also as they change. It returns how to stop. */
  follow(pattern: RegExp | undefined): () => void {
    this.#pattern = pattern
    this.#mark()
    const list = this.list()
    let asked: number | undefined
    const observer = new MutationObserver(() => {
      asked ??= requestAnimationFrame(() => {
        asked = undefined
        this.#mark()
      })
    })
    if (list) observer.observe(list, { childList: true, characterData: true, subtree: true })
    return () => {
      observer.disconnect()
      if (asked !== undefined) cancelAnimationFrame(asked)
    }
  }

  end(): void {
    this.#run++
    clearHighlights()
    this.#unmark()
  }

  #show(): void {
    const range = this.#mark()
    const list = this.list()
    if (range && list) scrollTo(range, list)
  }

  /** The rows that are drawn, without those of conversations inside them. */
  #rows(): HTMLElement[] {
    const all = this.list()?.querySelectorAll<HTMLElement>('[data-entry]') ?? []
    return [...all].filter((row) => !row.parentElement?.closest('[data-entry]'))
  }

  #unmark(): void {
    for (const row of document.querySelectorAll('[data-found]')) row.removeAttribute('data-found')
  }

  /** Marks every place that is drawn. It returns that of the current hit, if it is drawn. */
  #mark(): Range | undefined {
    this.#unmark()
    const all: Range[] = []
    const found: Range[] = []
    const rows = this.#pattern ? this.#rows() : []
    const own = rows.filter((row) => row.dataset.entry === this.#key)
    for (const row of rows) {
      const ranges = rangesIn(row, this.#pattern!)
      for (const range of ranges) all.push(range)
      if (own.includes(row)) for (const range of ranges) found.push(range)
    }
    const current = this.#current(own, found)
    highlight(all, current)
    return current
  }

  /** Which of the places in the rows of its entry the current hit is, once all of them are drawn. A long answer has several. */
  #current(rows: readonly HTMLElement[], found: readonly Range[]): Range | undefined {
    const hit = this.finder.current
    const [first] = rows
    if (!hit || !first || rows.length < Number(first.dataset.pieces ?? 1)) return undefined
    const current = found[placeOf(hit, this.finder.hits, found.length)]
    const row = rows.find((row) => current && row.contains(current.startContainer))
    ;(row ?? first).dataset.found = current ? 'text' : 'row'
    return current
  }
}
