import { createSubscriber } from 'svelte/reactivity'

/** The current time as reactive state. It ticks only while something reads it. */
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

/** For durations that are shown in tenths of a second. */
export const stopwatch = new Clock(100)
/** For durations that are shown in whole seconds. */
export const seconds = new Clock(1000)
/** For relative times such as "5m". */
export const calendar = new Clock(30_000)
