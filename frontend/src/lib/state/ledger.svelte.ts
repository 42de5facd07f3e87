import { type ApiError, asApiError, type Call } from '../api'
import { oneAtATime } from '../model/oneAtATime'
import type {
  CallPlace,
  Envelope,
  LedgerFilter,
  LedgerPage,
  LedgerRequest,
  LedgerRow,
} from '../types.gen'

/** How many calls are read at a time. */
const pageSize = 50

/** What ran in a session or in the project, and what decided about it. */
export class Ledger {
  filter = $state.raw<LedgerFilter>({})
  /** Whether the calls of the whole project are listed; otherwise those of the open session and its agents. */
  isProject = $state(false)
  rows = $state.raw<readonly LedgerRow[]>([])
  /** Where older calls are; undefined if there are none. */
  #next = $state.raw<CallPlace>()
  /** The place of the call whose details are shown. */
  open = $state<string>()
  failure = $state.raw<ApiError | null>(null)
  /** Whether something was read. */
  loaded = $state(false)
  loading = $state(false)
  /** Counts what ended since the calls were read. */
  news = $state(0)
  #session = $state('')
  #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  get more(): boolean {
    return this.#next !== undefined
  }

  receive(envelope: Envelope): void {
    if (envelope.events?.some(({ kind }) => kind === 'tool_call_end')) this.news++
  }

  /** Follows a session; without one, the project. */
  follow(session: string | undefined): void {
    const id = session ?? ''
    if (id === this.#session) return
    this.#session = id
    this.#forget()
  }

  choose(filter: LedgerFilter, isProject = this.isProject): void {
    this.filter = filter
    this.isProject = isProject
    this.#forget()
  }

  /** Reads the newest calls again, as many as were listed. */
  readonly load = oneAtATime(() => this.#read(undefined, Math.max(pageSize, this.rows.length)))

  /** Reads older calls. Far back, a reading may find none and still not be at the end. */
  readonly older = oneAtATime(() => this.#read(this.#next, pageSize))

  /** The arguments of a call, whole; undefined if they are lost. */
  async whole({ place, start }: LedgerRow): Promise<string | undefined> {
    if (!start) return undefined
    const { event } = await this.#call('conversation.event', { session: place.session, seq: start })
    const { data } = event as { data: { input?: string } }
    return data.input
  }

  async #read(before: CallPlace | undefined, limit: number): Promise<void> {
    const asked = this.#asked
    this.loading = true
    try {
      const page = await this.#call('permissions.ledger', { ...asked, before, limit })
      if (this.#isPast(asked)) return
      // The list was read again meanwhile and ends elsewhere: between the two there might be others.
      if (before && before !== this.#next) return
      this.#take(page, before !== undefined)
    } catch (thrown) {
      if (!this.#isPast(asked)) this.failure = asApiError(thrown)
    } finally {
      this.loading = false
    }
  }

  #take({ rows = [], next }: LedgerPage, isOlder: boolean): void {
    this.rows = isOlder ? [...this.rows, ...rows] : rows
    this.#next = next
    this.loaded = true
    this.failure = null
  }

  get #asked(): LedgerRequest {
    return { session: (!this.isProject && this.#session) || undefined, filter: this.filter }
  }

  #isPast(asked: LedgerRequest): boolean {
    const now = this.#asked
    return asked.session !== now.session || asked.filter !== now.filter
  }

  #forget(): void {
    this.rows = []
    this.#next = undefined
    this.failure = null
    this.loaded = false
    void this.load()
  }
}
