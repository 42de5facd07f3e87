/** The rows of a diff in slices: of many, only those near the view are drawn. */
import type { DiffRow } from '../model/diffRows'
import { codeSize } from '../state/fonts.svelte'

/** How many rows are drawn at once: the more, the longer a frame takes; the fewer, the later a fast scroll is followed. */
export const sliceRows = 20

/** Diffs of as many slices are drawn whole. */
const fewSlices = 10

/** The height of a line and of a row between hunks, in pixels, as app.css and diff.css have them. */
const lineHeight = () => codeSize() + 6
const gapHeight = 28

/** How far around the view slices are drawn, in pixels. */
const margin = 900

export function slicesOf(rows: readonly DiffRow[]): DiffRow[][] {
  const slices: DiffRow[][] = []
  for (let at = 0; at < rows.length; at += sliceRows) slices.push(rows.slice(at, at + sliceRows))
  return slices
}

export const widestOf = (rows: readonly DiffRow[]): number =>
  rows.reduce((most, row) => Math.max(most, columnsOf(row)), 0)

/** How wide the longer text of a row is, in columns of Latin letters. */
function columnsOf(row: DiffRow): number {
  if (row.kind === 'gap') return 0
  if (row.kind === 'line') return widthOf(row.line.text)
  return Math.max(widthOf(row.left?.text ?? ''), widthOf(row.right?.text ?? ''))
}

const unusual = /[\t\u2e80-\uffff]/

function widthOf(text: string): number {
  let columns = text.length
  if (!unusual.test(text)) return columns
  for (let at = 0; at < text.length && at < 4000; at++) {
    const code = text.charCodeAt(at)
    if (code === 9) columns += 3
    else if (code > 0x2e7f) columns++
  }
  return columns
}

/** How high rows are, about, until they are drawn. */
function heightOf(rows: readonly DiffRow[], columns: number): number {
  let height = 0
  const line = lineHeight()
  for (const row of rows) {
    if (row.kind === 'gap') height += gapHeight
    else if (columns === Infinity) height += line
    else height += line * Math.max(1, Math.ceil(columnsOf(row) / columns))
  }
  return height
}

/** The slices that are drawn, and the room that those before and after them take, in pixels. */
type Drawn = { first: number; last: number; before: number; after: number }

/** Which slices of a diff are drawn. */
export class DiffWindow {
  drawn = $state.raw<Drawn>({ first: 0, last: 0, before: 0, after: 0 })
  /** The height of each slice: what it measured, else about what it will take. */
  #heights: number[] = []
  #table: HTMLElement | undefined
  #root: HTMLElement | null = null
  #frame = 0

  /** Takes slices, with the number of columns of their lines. */
  lay(slices: readonly DiffRow[][], columns: number): void {
    const few = slices.length <= fewSlices
    this.#heights = few ? slices.map(() => 0) : slices.map((rows) => heightOf(rows, columns))
    const { first, last } = this.drawn
    const end = slices.length - 1
    if (few) this.#draw(0, end)
    else this.#draw(Math.min(first, end), Math.min(Math.max(first, last), first + 2, end))
    this.#plan()
  }

  /** Draws a slice at once. */
  show(slice: number): void {
    const { first, last } = this.drawn
    if (slice < first - 1 || slice > last + 1) this.#draw(slice, slice)
    else this.#draw(Math.min(first, slice), Math.max(last, slice))
  }

  /** Follows the view of what scrolls the table. */
  watch(table: HTMLElement): () => void {
    this.#table = table
    this.#root = scrollerOf(table)
    const target = this.#root ?? window
    const plan = () => this.#plan()
    const sizes = new ResizeObserver(plan)
    sizes.observe(this.#root ?? document.documentElement)
    target.addEventListener('scroll', plan, { passive: true })
    return () => {
      sizes.disconnect()
      target.removeEventListener('scroll', plan)
      cancelAnimationFrame(this.#frame)
      this.#frame = 0
      this.#table = undefined
    }
  }

  #plan(): void {
    if (this.#frame || !this.#table || this.#heights.length <= fewSlices) return
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0
      this.#approach()
    })
  }

  /** Comes nearer to drawing what is in view: one slice more in each frame. */
  #approach(): void {
    this.#measure()
    const { first, last } = this.drawn
    const [wantFirst, wantLast, middle] = this.#wanted()
    if (last < wantFirst || first > wantLast) {
      this.#draw(middle, middle)
      return this.#plan()
    }
    const nextLast = last < wantLast ? last + 1 : wantLast
    const nextFirst = nextLast <= last && first > wantFirst ? first - 1 : Math.max(first, wantFirst)
    if (nextFirst === first && nextLast === last) return
    this.#draw(nextFirst, nextLast)
    this.#plan()
  }

  /** The slices around the view, and the one at its middle. */
  #wanted(): [number, number, number] {
    const top = this.#table!.getBoundingClientRect().top
    const view = this.#root?.getBoundingClientRect() ?? { top: 0, bottom: innerHeight }
    const center = (Math.max(0, view.top) + Math.min(innerHeight, view.bottom)) / 2
    const at = [view.top - margin, view.bottom + margin, center].map((y) => this.#sliceAt(y - top))
    return [at[0]!, at[1]!, at[2]!]
  }

  #sliceAt(y: number): number {
    let end = 0
    const slice = this.#heights.findIndex((height) => (end += height) > y)
    return slice < 0 ? this.#heights.length - 1 : slice
  }

  #measure(): void {
    for (const element of this.#table!.querySelectorAll<HTMLElement>('[data-slice]')) {
      this.#heights[Number(element.dataset.slice)] = element.offsetHeight
    }
  }

  #draw(first: number, last: number): void {
    const table = this.#table
    const row = document.activeElement?.closest<HTMLElement>('[data-slice]')
    const slice = Number(row?.dataset.slice)
    // The slice with the focus must stay drawn.
    if (row && table?.contains(row) && (slice < first || slice > last)) {
      table.focus({ preventScroll: true })
    }
    const sum = (from: number, to: number) =>
      this.#heights.slice(from, to).reduce((all, height) => all + height, 0)
    this.drawn = { first, last, before: sum(0, first), after: sum(last + 1, this.#heights.length) }
  }
}

/** The nearest element around another that scrolls it; null is the window. */
function scrollerOf(element: HTMLElement): HTMLElement | null {
  for (let box = element.parentElement; box; box = box.parentElement) {
    if (/auto|scroll/.test(getComputedStyle(box).overflowY)) return box
  }
  return null
}
