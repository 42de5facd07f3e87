import { Lazy } from '../ui/lazy.svelte'

/** Loaded apart from the first screen, which only a new user sees with it. */
export const guideSteps = new Lazy(() => import('./Guide.svelte').then((module) => module.default))
