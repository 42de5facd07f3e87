import { Lazy } from '../ui/lazy.svelte'

/** Loaded apart from the first screen. */
export const workDialog = new Lazy(() =>
  import('./WorkDialog.svelte').then((module) => module.default),
)
