import { Lazy } from '../ui/lazy.svelte'

/** What the dialog shows, which is loaded apart from the first screen. */
export const searchBody = new Lazy(() =>
  import('./SearchBody.svelte').then((module) => module.default),
)
