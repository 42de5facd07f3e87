import { Lazy } from '../ui/lazy.svelte'

/** Loaded apart from the first screen. */
export const serverAsk = new Lazy(() =>
  import('./ServerAsk.svelte').then((module) => module.default),
)
