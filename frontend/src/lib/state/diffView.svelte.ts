/** How the user wants diffs to be shown, everywhere and from now on. */
import type { Layout } from '../types.gen'

export type DiffView = Pick<Layout, 'diff_split' | 'diff_scrolls' | 'diff_hides_spaces'>

let view = $state.raw<DiffView>({})
let keep: (view: DiffView) => void = () => {}

export const diffView = (): DiffView => view

/** Takes what was kept. */
export function setDiffView({ diff_split, diff_scrolls, diff_hides_spaces }: DiffView): void {
  view = { diff_split, diff_scrolls, diff_hides_spaces }
}

/** Sets the function that keeps the choice for the next page. */
export function keepDiffView(by: (view: DiffView) => void): void {
  keep = by
}

export function changeDiffView(change: DiffView): void {
  view = { ...view, ...change }
  keep(view)
}
