import { Lazy } from '../ui/lazy.svelte'

/** Loaded apart from the first screen. */
export const asideDialog = new Lazy(() =>
  import('./AsideDialog.svelte').then((module) => module.default),
)
