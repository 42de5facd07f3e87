import { Lazy } from '../ui/lazy.svelte'

/** The messages that wait, which are loaded apart from the first screen. */
export const queueList = new Lazy(() =>
  import('./QueueList.svelte').then((module) => module.default),
)
