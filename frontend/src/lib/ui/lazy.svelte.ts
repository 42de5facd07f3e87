/** A part of the program that is loaded when it is first needed. Components that were drawn without it are drawn again. */
export class Lazy<T> {
  #part = $state.raw<T>()
  #failed = $state(false)
  #loading: Promise<void> | undefined

  constructor(private load: () => Promise<T>) {}

  /** The part, once it is loaded. */
  get part(): T | undefined {
    return this.#part
  }

  /** Whether the part could not be loaded the last time. */
  get failed(): boolean {
    return this.#failed
  }

  /** Loads the part. If that fails, the next call tries again. */
  need(): Promise<void> {
    this.#loading ??= this.load().then(
      (part) => {
        this.#part = part
        this.#failed = false
      },
      () => {
        this.#loading = undefined
        this.#failed = true
      },
    )
    return this.#loading
  }
}

/** How long a part waits at most for a page that is never idle, as during an answer, in milliseconds. */
const busyMs = 2000

function whenIdle(then: () => void) {
  // WebKit has none.
  if ('requestIdleCallback' in globalThis) requestIdleCallback(then, { timeout: busyMs })
  else setTimeout(then, 200)
}

/** Loads parts one after another once the page is painted and idle, so that each is there when it is first opened. */
export function loadIdly(parts: readonly Lazy<unknown>[]): () => void {
  let stopped = false
  const next = ([part, ...rest]: readonly Lazy<unknown>[]) => {
    if (!part) return
    whenIdle(() => {
      if (!stopped) void part.need().then(() => next(rest))
    })
  }
  requestAnimationFrame(() => next(parts))
  return () => (stopped = true)
}
