import { Lazy } from '../ui/lazy.svelte'

/** What the palette finds, which is loaded apart from the first screen. */
export const paletteEntries = new Lazy(() =>
  import('./paletteEntries').then((module) => module.paletteEntries),
)
export const railDialog = new Lazy(() =>
  import('./RailDialog.svelte').then((module) => module.default),
)
