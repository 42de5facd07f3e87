/** The values that a filter offers: those that are listed, and those that were before the filter left them out. */
export class Seen<V extends string> {
  #before = $state.raw<readonly V[]>([])
  #now: () => readonly V[]

  constructor(now: () => readonly V[]) {
    this.#now = now
  }

  get values(): readonly V[] {
    return [...this.#before, ...this.#now()].filter((value, at, all) => all.indexOf(value) === at)
  }

  /** To be called before another filter is chosen. */
  keep(): void {
    this.#before = this.values
  }
}
