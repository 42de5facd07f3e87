/** The rows of a conversation, and what its list draws of them: long rows are drawn in pieces. */
import { tick } from 'svelte'
import type { Entry } from '../model/entries'
import { type Item, Pieces, rowKey, rowOf } from '../model/pieces'
import { type Density, type Folds, indexNear, type Row, Rows } from '../model/rows'

type Align = 'start' | 'center' | 'nearest'

/** The list, which counts items. */
type List = {
  top: () => string | undefined
  first: () => number
  reveal: (index: number, align?: Align) => void
}

type Given = { entries: readonly Entry[]; density: Density; folds: Folds; list: List | undefined }

export class Listed {
  readonly #layout = new Rows()
  readonly #pieces = new Pieces()
  readonly rows: readonly Row[] = $derived.by(() => {
    const { entries, density, folds } = this.given()
    return this.#layout.of(entries, density, folds)
  })
  readonly items: readonly Item[] = $derived(this.#pieces.of(this.rows))

  constructor(private readonly given: () => Given) {}

  /** Whether a row is drawn below the line of its group. */
  isInside = (row: Entry): boolean => this.#layout.isInside(row)

  /** The key of the first row in view. */
  top(): string | undefined {
    const key = this.given().list?.top()
    return key === undefined ? undefined : rowKey(key)
  }

  /** The index of the first row in view. */
  first(): number {
    const item = this.items[this.given().list?.first() ?? 0]
    return item ? this.rows.indexOf(rowOf(item)) : 0
  }

  /** Scrolls a row into view. */
  show(index: number, align?: Align): void {
    const row = this.rows[index]
    const at = this.items.findIndex(({ key }) => key === row?.key)
    if (at >= 0) this.given().list?.reveal(at, align)
  }

  /** Keeps in view what is at the top of it, while other rows are drawn. */
  keepTop(): void {
    const key = this.top()
    if (key) void tick().then(() => this.show(Math.max(0, indexNear(this.rows, key))))
  }
}
