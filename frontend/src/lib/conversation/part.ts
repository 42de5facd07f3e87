import { Lazy } from '../ui/lazy.svelte'

/** Loaded apart from the first screen. */
export const contextDialog = new Lazy(() =>
  import('./ContextDialog.svelte').then((module) => module.default),
)
