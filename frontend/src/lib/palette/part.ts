import { Lazy } from '../ui/lazy.svelte'

/** The palette, which is loaded apart from the first screen. */
export const palette = new Lazy(() => import('./Palette.svelte').then((module) => module.default))
