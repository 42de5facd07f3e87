/** A part of the program that is loaded when it is first needed. What was drawn without it is drawn again. */
export class Lazy<T> {
  #part = $state.raw<T>()
  #loading: Promise<void> | undefined

  constructor(private load: () => Promise<T>) {}

  /** The part, once it is loaded. */
  get part(): T | undefined {
    return this.#part
  }

  /** Loads the part. If that fails, the next call tries again. */
  need(): Promise<void> {
    this.#loading ??= this.load().then(
      (part) => void (this.#part = part),
      () => void (this.#loading = undefined),
    )
    return this.#loading
  }
}
