import type {
  CompareFileReply,
  CompareReply,
  Envelope,
  ForkReply,
  ForkRequest,
  SessionInfo,
} from '../types.gen'
import { Resource } from './resource.svelte'

/** Where a fork begins: at an event of a session, or at its end. */
export type ForkPoint = { session: string; event?: number }

/** The branches of the open session: what was forked from what, and two of them side by side. */
export class Branches extends Resource {
  list = $state.raw<readonly SessionInfo[]>([])
  more = $state(0)
  /** What the user is asked about before it is forked. */
  asking = $state.raw<ForkPoint>()
  /** The branch that the open session is compared with. */
  other = $state<string>()
  comparison = $state.raw<CompareReply>()
  /** The file whose difference is shown. */
  file = $state.raw<CompareFileReply>()
  #of: string | undefined

  /** Follows the open session. */
  follow(session: string | undefined): void {
    if (this.#of === session) return
    this.#of = session
    this.list = []
    this.failure = null
    this.#close()
    void this.load()
  }

  readonly load = this.reading(
    () => (this.#of ? this.call('sessions.branches', { session: this.#of }) : undefined),
    ({ branches = [], more = 0 }) => {
      this.list = branches
      this.more = more
    },
    () => this.#of,
  )

  /** Reads the list again after a fork, and after news of a branch. */
  receive({ session, events = [] }: Envelope): void {
    const has = (kinds: ReadonlySet<string>) => events.some(({ kind }) => kinds.has(kind))
    const isListed = this.list.some(({ id }) => id === session)
    if (has(forks) || (isListed && has(told))) void this.load()
  }

  /** Asks for the options of a fork. */
  ask(point: ForkPoint | undefined): void {
    this.asking = point
    this.problem = null
  }

  /** Forks a session; undefined if that failed. */
  fork(request: ForkRequest): Promise<ForkReply | undefined> {
    return this.attempt(() => this.call('sessions.fork', request))
  }

  /** Compares the open session with another branch. */
  async compare(other: string): Promise<void> {
    const session = this.#of
    if (!session) return
    if (this.other !== other) this.#close()
    this.other = other
    const reply = await this.attempt(() => this.call('sessions.compare', { session, with: other }))
    if (this.#of === session && this.other === other && reply) this.comparison = reply
  }

  /** Shows the difference of a file, or hides it. */
  async open(path: string | undefined): Promise<void> {
    const [session, other] = [this.#of, this.other]
    this.file = undefined
    if (!session || !other || path === undefined) return
    const request = { session, with: other, path }
    const reply = await this.attempt(() => this.call('sessions.compare_file', request))
    if (this.#of === session && this.other === other) this.file = reply
  }

  /** Takes over the opened file, or some hunks of it; false if nothing was taken. */
  async take(hunks: number[] = []): Promise<boolean> {
    const [session, other, file] = [this.#of, this.other, this.file]
    if (!session || !other || !file?.take) return false
    const { path, take } = file
    const request = { session, with: other, path, seal: take.seal, hunks, rest: true }
    const done = await this.attempt(() => this.call('sessions.take', request))
    const { problem } = this
    await Promise.all([this.compare(other), this.open(path)])
    this.problem ??= problem
    return done !== undefined
  }

  /** Ends the comparison. */
  leave = (): void => this.#close()

  #close(): void {
    this.other = this.comparison = this.file = undefined
    this.problem = null
  }
}

const forks: ReadonlySet<string> = new Set(['session_forked'])

/** The events after which the list is read again. */
const told: ReadonlySet<string> = new Set(['processing_end', 'title', 'session_marks', 'settings'])
