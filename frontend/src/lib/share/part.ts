import { Lazy } from '../ui/lazy.svelte'

/** Loaded apart from the first screen. */
export const shareDialog = new Lazy(() =>
  import('./ShareDialog.svelte').then((module) => module.default),
)
