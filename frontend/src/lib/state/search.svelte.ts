import { type ApiError, asApiError, type Call } from '../api'
import { countHits, withMore } from '../model/search'
import type { Found, FoundSession, SearchFilter, SearchHyphen } from '../types.gen'

/** After how many milliseconds without a key typing is over, and sessions that are behind are searched again. */
const pause = 120
const again = 1000
/** Older hits are searched for automatically until there are this many. */
const enough = 20

/** The search over all sessions. A newer one ends an older one. */
export class Search {
  /** Whether its dialog is open. */
  isOpen = $state(false)
  text = $state('')
  /** Whether the sessions of all projects are searched. */
  everywhere = $state(false)
  /** The session that is searched alone; undefined means all. */
  within = $state.raw<FoundSession>()
  sessions = $state.raw<readonly FoundSession[]>([])
  words = $state.raw<readonly string[]>([])
  filters = $state.raw<readonly SearchFilter[]>([])
  /** The words after a hyphen, and what was made of them. */
  hyphens = $state.raw<readonly SearchHyphen[]>([])
  /** How many sessions are still being read. */
  behind = $state(0)
  searching = $state(false)
  problem = $state.raw<ApiError>()
  /** What was searched for, once there is an answer. */
  answered = $state('')
  #next = $state('')
  #run = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  readonly hits = $derived(countHits(this.sessions))
  /** Whether there may be older hits. */
  readonly more = $derived(this.#next !== '')

  constructor(private readonly call: Call) {}

  /** Searches for what was typed, once typing is over. */
  type(text: string): void {
    this.text = text
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.find(), pause)
  }

  /** Searches the sessions of all projects, or only those of this one. */
  widen(everywhere: boolean): void {
    this.everywhere = everywhere
    void this.find()
  }

  /** Searches one session alone; undefined searches all. */
  narrow(session: FoundSession | undefined): void {
    this.within = session
    void this.find()
  }

  /** Searches from the newest event back, until there are enough hits. */
  async find(): Promise<void> {
    clearTimeout(this.#timer)
    const run = ++this.#run
    this.searching = true
    let sessions: readonly FoundSession[] = []
    let next = ''
    do {
      const found = await this.#ask(run, next)
      if (!found) return
      sessions = withMore(sessions, found)
      next = found.next ?? ''
      this.#take(found, sessions)
    } while (next && this.hits < enough)
    this.searching = false
    if (this.behind > 0) this.#timer = setTimeout(() => void this.find(), again)
  }

  /** Searches further back. */
  async further(): Promise<void> {
    if (!this.more || this.searching) return
    clearTimeout(this.#timer)
    const run = ++this.#run
    const before = this.hits
    this.searching = true
    do {
      const found = await this.#ask(run, this.#next)
      if (!found) return
      this.#take(found, withMore(this.sessions, found))
    } while (this.more && this.hits === before)
    this.searching = false
  }

  /** Opens the dialog. The last search is repeated, because there may be more. */
  open(): void {
    this.isOpen = true
    if (this.text.trim()) void this.find()
  }

  /** Closes the dialog and ends a running search. The results stay. */
  close(): void {
    this.isOpen = false
    this.#run++
    clearTimeout(this.#timer)
    this.searching = false
  }

  #take(found: Found, sessions: readonly FoundSession[]): void {
    this.sessions = sessions
    this.words = found.words ?? []
    this.filters = found.filters ?? []
    this.hyphens = found.hyphens ?? []
    this.behind = found.behind ?? 0
    this.#next = found.next ?? ''
    this.answered = this.text.trim()
    this.problem = undefined
  }

  /** Asks for a part; undefined if it failed or another search began. */
  async #ask(run: number, next: string): Promise<Found | undefined> {
    const { text, everywhere, within } = this
    const session = within?.session
    try {
      const found = await this.call('sessions.search', {
        text,
        everywhere,
        next,
        ...(session ? { session } : {}),
      })
      return run === this.#run ? found : undefined
    } catch (thrown) {
      if (run !== this.#run) return undefined
      this.problem = asApiError(thrown)
      this.searching = false
      return undefined
    }
  }
}
