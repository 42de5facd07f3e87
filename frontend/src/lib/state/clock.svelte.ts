import { createSubscriber } from 'svelte/reactivity'

/** The time, as state that advances while somebody looks at it. */
class Clock {
  #subscribe: () => void

  constructor(everyMs: number) {
    this.#subscribe = createSubscriber((update) => {
      const timer = setInterval(update, everyMs)
      return () => clearInterval(timer)
    })
  }

  get now(): number {
    this.#subscribe()
    return Date.now()
  }
}

/** For what runs right now. */
export const stopwatch = new Clock(100)
/** For what runs for long. */
export const seconds = new Clock(1000)
/** For relative times. */
export const calendar = new Clock(30_000)
