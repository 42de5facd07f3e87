import { Lazy } from '../ui/lazy.svelte'

/** Loaded apart from the first screen. */
export const runsDialog = new Lazy(() =>
  import('./RunsDialog.svelte').then((module) => module.default),
)

export const raceDialog = new Lazy(() =>
  import('./RaceDialog.svelte').then((module) => module.default),
)
