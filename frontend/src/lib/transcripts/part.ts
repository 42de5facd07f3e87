import { Lazy } from '../ui/lazy.svelte'

/** Loaded apart from the first screen. */
export const exportDialog = new Lazy(() =>
  import('./ExportDialog.svelte').then((module) => module.default),
)

/** Loaded apart from the first screen. */
export const importDialog = new Lazy(() =>
  import('./ImportDialog.svelte').then((module) => module.default),
)
