import type { Call } from '../api'
import { freshEvents } from '../model/sync'
import { families, fold, newestFirst, withQuestions } from '../model/sessions'
import { isFiltered, selects } from '../model/sessionFilter'
import type {
  Envelope,
  MarkRequest,
  SessionFilter,
  SessionInfo,
  SessionPage,
  SessionPlace,
} from '../types.gen'

/** How many sessions a page has, without their agents. */
const pageSize = 50

/** How far a list has been read. */
type Reading = { filter: SessionFilter; next: SessionPlace | undefined }

/**
 * The project's sessions that are known, newest first, kept up to date by the events of all sessions: those
 * of the pages that were read, and those that were asked for or named by an event.
 */
export class Sessions {
  list = $state.raw<readonly SessionInfo[]>([])
  /** What the sidebar is limited to. */
  filter = $state.raw<SessionFilter>({})
  #questions: () => readonly { session: string }[] = () => []
  readonly families = $derived(families(withQuestions(this.list, this.#questions())))
  /** The sessions that the sidebar shows. */
  readonly shown = $derived(this.families.filter((family) => selects(this.filter, family)))
  #reading = $state.raw<Reading>({ filter: {}, next: undefined })
  /** Where what was not read of them begins; undefined if all were read. */
  readonly next = $derived(this.#reading.next)
  #call: Call
  #asked: Record<string, Promise<SessionInfo | undefined>> = {}

  /** Questions are those of servers, which the sessions' states do not tell of. */
  constructor(call: Call, questions?: () => readonly { session: string }[]) {
    this.#call = call
    if (questions) this.#questions = questions
  }

  /** Reads the list again from its beginning. Sessions that are no longer in that part are removed. */
  async load(): Promise<void> {
    const page = await this.#page({})
    const floor = page.next?.updated_at ?? 0
    const read = page.sessions?.map(({ id }) => id)
    const isGone = ({ id, updated_at, helper }: SessionInfo) =>
      !helper && updated_at > floor && !read?.includes(id)
    const gone = this.families
      .filter((family) => selects({}, family) && isGone(family.session))
      .map(({ session }) => session.id)
    this.#forget(gone)
    this.#take(page)
    if (!isFiltered(this.filter) && !this.filter.view)
      this.#reading = { filter: {}, next: page.next }
    else await this.show(this.filter)
  }

  /** Limits the list of the sidebar, and reads its beginning. */
  async show(filter: SessionFilter): Promise<void> {
    this.filter = filter
    const page = await this.#page(filter)
    this.#take(page)
    if (this.filter === filter) this.#reading = { filter, next: page.next }
  }

  /** Reads the next page of what the sidebar shows. */
  async loadMore(): Promise<void> {
    const reading = this.#reading
    if (!reading.next) return
    const page = await this.#page(reading.filter, reading.next)
    this.#take(page)
    if (this.#reading === reading) this.#reading = { ...reading, next: page.next }
  }

  find(id: string): SessionInfo | undefined {
    return this.list.find((session) => session.id === id)
  }

  /** Finds a session, also one that was not read yet; undefined if it does not exist. An agent comes with its session. */
  know(id: string): Promise<SessionInfo | undefined> {
    const known = this.find(id)
    if (known) return Promise.resolve(known)
    this.#asked[id] ??= this.#get(id).finally(() => delete this.#asked[id])
    return this.#asked[id]
  }

  async #get(id: string): Promise<SessionInfo | undefined> {
    try {
      const session = await this.#call('sessions.get', { session: id })
      this.#take({ sessions: [session] })
      if (session.helper) await this.know(session.helper.parent)
      return session
    } catch {
      return undefined // the next envelope asks again
    }
  }

  /** Takes an envelope of any session. A session that is unknown, or of which events are missing, is read. */
  receive(envelope: Envelope): void {
    for (const event of envelope.events ?? []) {
      if (event.kind === 'sessions_change') this.#forget([event.data.removed])
    }
    if (!envelope.session) return // news of the whole project
    const known = this.find(envelope.session)
    const fresh = known && freshEvents(envelope, known.seq)
    if (!known) void this.know(envelope.session)
    else if (!fresh) void this.#get(envelope.session)
    else {
      const next = fresh.reduce(fold, known)
      if (next !== known) this.#replace(next)
    }
  }

  async create(): Promise<SessionInfo> {
    const session = await this.#call('sessions.create', {})
    this.#replace(session)
    return session
  }

  async rename(id: string, title: string): Promise<void> {
    this.#replace(await this.#call('sessions.rename', { session: id, title }))
  }

  async mark(id: string, change: Omit<MarkRequest, 'session'>): Promise<void> {
    this.#replace(await this.#call('sessions.mark', { session: id, ...change }))
  }

  /** Removes a session and its agents for good. */
  async remove(id: string): Promise<void> {
    await this.#call('sessions.remove', { session: id })
    this.#forget([id])
  }

  #page(filter: SessionFilter, after?: SessionPlace): Promise<SessionPage> {
    const place = after && { after }
    return this.#call('sessions.list', { filter, urgent_first: true, limit: pageSize, ...place })
  }

  /** Adds what was read. Sessions that received newer events meanwhile stay as they are. */
  #take({ sessions = [] }: SessionPage): void {
    const fresh = sessions.filter(({ id, seq }) => (this.find(id)?.seq ?? 0) <= seq)
    const ids = fresh.map(({ id }) => id)
    this.list = newestFirst([...fresh, ...this.list.filter(({ id }) => !ids.includes(id))])
  }

  #forget(ids: readonly string[]): void {
    this.list = this.list.filter(
      ({ id, helper }) => !ids.includes(id) && !ids.includes(helper?.parent ?? ''),
    )
  }

  #replace(session: SessionInfo): void {
    const others = this.list.filter((other) => other.id !== session.id)
    this.list = newestFirst([session, ...others])
  }
}
