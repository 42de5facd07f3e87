import { Lazy } from '../ui/lazy.svelte'

/** Loaded apart from the first screen. */
export const historyDialog = new Lazy(() =>
  import('./HistoryDialog.svelte').then((module) => module.default),
)
export const memoDialog = new Lazy(() =>
  import('./MemoDialog.svelte').then((module) => module.default),
)
export const cacheWarning = new Lazy(() =>
  import('../cost/CacheWarning.svelte').then((module) => module.default),
)
