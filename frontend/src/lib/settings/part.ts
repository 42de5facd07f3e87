import { Lazy } from '../ui/lazy.svelte'

/** What the dialog shows, which is loaded apart from the first screen. */
export const settingsBody = new Lazy(() =>
  import('./SettingsBody.svelte').then((module) => module.default),
)
export const keySheet = new Lazy(() => import('./KeySheet.svelte').then((module) => module.default))
