import { type ApiError, asApiError, type Call } from '../api'
import { oneAtATime } from '../model/oneAtATime'

/** What the user asks the application to do, one thing after the other. */
export class Attempts {
  /** Why what the user asked for was not done. */
  problem = $state.raw<ApiError | null>(null)
  /** Whether something is being done. */
  busy = $state(false)

  constructor(protected readonly call: Call) {}

  /** Does work and returns what it returns; undefined if it failed. */
  protected async attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    this.busy = true
    this.problem = null
    try {
      return await work()
    } catch (thrown) {
      this.problem = asApiError(thrown)
      return undefined
    } finally {
      this.busy = false
    }
  }

  /** Does work and reports whether it was done. */
  protected async does(work: () => Promise<unknown>): Promise<boolean> {
    return (await this.attempt(async () => (await work(), true))) ?? false
  }
}

/** What the page reads from the application, reads again and changes there. */
export abstract class Resource extends Attempts {
  /** Whether it was read. */
  loaded = $state(false)
  /** Why it could not be read. */
  failure = $state.raw<ApiError | null>(null)

  /** What the user is told: why something was not done, or could not be read. */
  get trouble(): ApiError | null {
    return this.problem ?? this.failure
  }

  dismiss = (): void => {
    this.problem = this.failure = null
  }

  /** Reads it, again if it was read before. */
  abstract readonly load: () => Promise<void>

  /**
   * Returns a function that reads and takes the reply, never twice at the same time. A reply is
   * dropped if by then something else is to be read than when it was asked for.
   */
  protected reading<T>(
    read: () => Promise<T> | undefined,
    take: (reply: T) => void,
    of: () => unknown = () => undefined,
  ): () => Promise<void> {
    return oneAtATime(async () => {
      const asked = of()
      try {
        const reply = await read()
        if (reply === undefined || of() !== asked) return
        take(reply)
        this.loaded = true
        this.failure = null
      } catch (thrown) {
        if (of() === asked) this.failure = asApiError(thrown)
      }
    })
  }

  /** Does what the user asked for, and reads again whatever came of it. */
  protected async change(work: () => Promise<unknown>): Promise<boolean> {
    const isDone = await this.does(work)
    await this.load()
    return isDone
  }
}
