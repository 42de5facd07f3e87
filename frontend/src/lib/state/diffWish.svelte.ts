/** How the user wants diffs to be shown, everywhere and from now on. */
import type { Layout } from '../types.gen'

export type DiffWish = Pick<Layout, 'diff_split' | 'diff_scrolls' | 'diff_hides_spaces'>

let wish = $state.raw<DiffWish>({})
let keep: (wish: DiffWish) => void = () => {}

export const diffWish = (): DiffWish => wish

/** Takes what was kept. */
export function setDiffWish({ diff_split, diff_scrolls, diff_hides_spaces }: DiffWish): void {
  wish = { diff_split, diff_scrolls, diff_hides_spaces }
}

/** Sets the function that keeps the choice for the next page. */
export function keepDiffWish(by: (wish: DiffWish) => void): void {
  keep = by
}

export function wishDiff(change: DiffWish): void {
  wish = { ...wish, ...change }
  keep(wish)
}
