import { Lazy } from '../ui/lazy.svelte'

/** Loaded apart from the first screen. */
export const trustReview = new Lazy(() =>
  import('./TrustReview.svelte').then((module) => module.default),
)
