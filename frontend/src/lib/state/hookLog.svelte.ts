import { type ApiError, asApiError, type Call } from '../api'
import { oneAtATime } from '../model/oneAtATime'
import type { HookLogEntry, HookLogRequest, HookLogRow } from '../types.gen'

/** How many entries are read at a time. */
const pageSize = 100

export type HookFilter = Omit<HookLogRequest, 'session' | 'before' | 'limit'>

/** Every hook that was considered, with its outcome. */
export class HookLog {
  filter = $state.raw<HookFilter>({})
  /** Whether the entries of all sessions are listed; otherwise those of the open one. */
  isProject = $state(false)
  rows = $state.raw<readonly HookLogRow[]>([])
  more = $state(false)
  /** How many entries could not be kept since the program started. */
  lost = $state(0)
  kept = $state(0)
  /** The entry whose details are shown. */
  open = $state<number>()
  failure = $state.raw<ApiError | null>(null)
  loaded = $state(false)
  loading = $state(false)
  /** Counts the news since the entries were read. */
  news = $state(0)
  #session = $state('')
  #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  /** Follows a session; without one, the project. */
  follow(session: string | undefined): void {
    const id = session ?? ''
    if (id === this.#session) return
    this.#session = id
    this.#forget()
  }

  choose(filter: HookFilter, isProject = this.isProject): void {
    this.filter = filter
    this.isProject = isProject
    this.#forget()
  }

  /** Reads the newest entries again, as many as were listed. */
  readonly load = oneAtATime(() => this.#read(0, Math.max(pageSize, this.rows.length)))

  readonly older = oneAtATime(() => this.#read(this.rows.at(-1)?.id ?? 0, pageSize))

  entry = (id: number): Promise<HookLogEntry> => this.#call('hooks.entry', { id })

  /** Runs the hook of an entry again with its original input. Its answer has no effect. */
  replay = (entry: number): Promise<HookLogEntry> => this.#call('hooks.replay', { entry })

  /** The newest entries of a hook, of all sessions. */
  async of(hook: string): Promise<readonly HookLogRow[]> {
    return (await this.#call('hooks.log', { hook, limit: 200 })).entries ?? []
  }

  async #read(before: number, limit: number): Promise<void> {
    const asked = this.#asked
    this.loading = true
    try {
      const page = await this.#call('hooks.log', {
        ...asked,
        before: before || undefined,
        limit: Math.min(limit, 200),
      })
      if (this.#isPast(asked)) return
      const { entries = [], more = false, lost = 0, kept } = page
      // Those that were read before stay, so that a long list does not become shorter with each entry.
      // If there are others between the two, they go, because nothing would fill the gap.
      const oldest = entries.at(-1)?.id ?? Infinity
      const isGap = more && (this.rows[0]?.id ?? 0) < oldest
      const known = isGap ? [] : this.rows.filter(({ id }) => id < oldest)
      this.rows = before ? [...this.rows, ...entries] : [...entries, ...known]
      if (before || known.length === 0) this.more = more
      this.lost = lost
      this.kept = kept
      this.loaded = true
      this.failure = null
    } catch (thrown) {
      if (!this.#isPast(asked)) this.failure = asApiError(thrown)
    } finally {
      this.loading = false
    }
  }

  get #asked(): HookLogRequest {
    return { ...this.filter, session: (!this.isProject && this.#session) || undefined }
  }

  #isPast(asked: HookLogRequest): boolean {
    const now = this.#asked
    return JSON.stringify(asked) !== JSON.stringify(now)
  }

  #forget(): void {
    this.rows = []
    this.more = false
    this.failure = null
    this.loaded = false
    void this.load()
  }
}
