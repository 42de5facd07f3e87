import { Lazy } from '../ui/lazy.svelte'

/** Loaded apart from the first screen. */
export const forkDialog = new Lazy(() =>
  import('./ForkDialog.svelte').then((module) => module.default),
)
