import { Lazy } from '../ui/lazy.svelte'

/** Loaded apart from the first screen. */
export const undoDialog = new Lazy(() =>
  import('./UndoDialog.svelte').then((module) => module.default),
)
