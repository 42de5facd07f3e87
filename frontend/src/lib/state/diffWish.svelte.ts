/** How the user wishes to see diffs, everywhere and from now on. */
import type { Layout } from '../types.gen'

export type DiffWish = Pick<Layout, 'diff_split' | 'diff_scrolls' | 'diff_hides_spaces'>

let wish = $state.raw<DiffWish>({})
let keep: (wish: DiffWish) => void = () => {}

export const diffWish = (): DiffWish => wish

/** Takes what was kept. */
export function setDiffWish({ diff_split, diff_scrolls, diff_hides_spaces }: DiffWish): void {
  wish = { diff_split, diff_scrolls, diff_hides_spaces }
}

/** Names who keeps a wish for the next page. */
export function keepDiffWish(by: (wish: DiffWish) => void): void {
  keep = by
}

export function wishDiff(change: DiffWish): void {
  wish = { ...wish, ...change }
  keep(wish)
}
