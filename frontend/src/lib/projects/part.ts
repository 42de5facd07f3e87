import { Lazy } from '../ui/lazy.svelte'

/** What the menu of projects offers, which is loaded apart from the first screen. */
export const projectChoice = new Lazy(() =>
  import('./ProjectChoice.svelte').then((module) => module.default),
)
