import { type ApiError, asApiError, type Call } from '../api'
import { oneAtATime } from '../model/oneAtATime'
import type {
  CompactPreview,
  ContextInfo,
  ContextItem,
  ContextPage,
  Envelope,
  Mark,
} from '../types.gen'

/** Which items are listed. */
export type ContextFilter = 'all' | 'marked' | NonNullable<ContextPage['type']>

/** How many items are read at once. */
const pageSize = 50

/** What fills the context of the open session, and what the user decides about it. */
export class ContextOfSession {
  info = $state.raw<ContextInfo>()
  items = $state.raw<readonly ContextItem[]>([])
  filter = $state<ContextFilter>('all')
  /** A summary that has not replaced anything yet. */
  preview = $state.raw<CompactPreview>()
  /** What is being done. */
  busy = $state<'mark' | 'preview' | 'compact' | 'undo'>()
  /** Why the context could not be read. */
  failure = $state.raw<ApiError | null>(null)
  /** Why what the user asked for was not done. */
  problem = $state.raw<ApiError | null>(null)
  /** Counts what happened in the session. */
  news = $state(0)
  #of: string | undefined
  #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  follow(session: string | undefined): void {
    if (this.#of === session) return
    this.#of = session
    this.info = this.preview = this.busy = undefined
    this.items = []
    this.failure = this.problem = null
    this.news++
  }

  receive({ session, events = [] }: Envelope): void {
    if (session === this.#of && events.some(({ kind }) => changes.has(kind))) this.news++
  }

  choose(filter: ContextFilter): void {
    this.filter = filter
    this.items = []
    void this.load()
  }

  /** Reads the context again, with as many items as are listed. */
  readonly load = oneAtATime(() => this.#read(Math.max(pageSize, this.items.length)))

  /** Lists older items too. */
  readonly more = oneAtATime(() => this.#read(this.items.length + pageSize))

  mark(mark: Mark, items: string[]): Promise<boolean> {
    return this.#attempt('mark', (session) => this.#call('context.mark', { session, mark, items }))
  }

  /** Has the conversation summarised, which changes nothing. */
  summarise(focus: string): Promise<boolean> {
    return this.#attempt('preview', async (session) => {
      const preview = await this.#call('context.preview', { session, focus })
      if (this.#of === session) this.preview = preview
    })
  }

  /** Replaces the conversation by a summary. */
  async compact(summary: string): Promise<void> {
    const done = await this.#attempt('compact', (session) =>
      this.#call('context.compact', { session, summary }),
    )
    if (done) this.preview = undefined
  }

  undo(compaction: number): Promise<boolean> {
    return this.#attempt('undo', (session) => this.#call('context.undo', { session, compaction }))
  }

  /** The text of an item. */
  async text(id: string): Promise<string> {
    const session = this.#of ?? ''
    const { text, rest = 0 } = await this.#call('context.item', { session, id })
    return rest > 0 ? `${text} […]` : text
  }

  async #read(count: number): Promise<void> {
    const session = this.#of
    if (!session) return
    const { filter } = this
    try {
      const { items, info } = await this.#pages(session, filter, count)
      if (this.#of !== session || this.filter !== filter) return
      this.items = items
      this.info = info
      this.failure = null
    } catch (thrown) {
      if (this.#of === session) this.failure = asApiError(thrown)
    }
  }

  async #pages(session: string, filter: ContextFilter, count: number) {
    const wanted: ContextPage =
      filter === 'all' ? {} : filter === 'marked' ? { marked: true } : { type: filter }
    const items: ContextItem[] = []
    for (;;) {
      const page = { ...wanted, skip: items.length, count: Math.min(200, count - items.length) }
      const info = await this.#call('context.info', { session, page })
      items.push(...(info.items ?? []))
      if (!info.items?.length || items.length >= Math.min(count, info.total)) return { items, info }
    }
  }

  async #attempt(
    what: NonNullable<typeof this.busy>,
    work: (session: string) => Promise<unknown>,
  ): Promise<boolean> {
    const session = this.#of
    if (!session || this.busy) return false
    this.busy = what
    this.problem = null
    try {
      await work(session)
      await this.load()
      return true
    } catch (thrown) {
      if (this.#of === session) this.problem = asApiError(thrown)
      return false
    } finally {
      if (this.#of === session) this.busy = undefined
    }
  }
}

/** The events after which the context is read again. */
const changes: ReadonlySet<string> = new Set([
  'user_input',
  'assistant_text_end',
  'tool_call_end',
  'compaction_end',
  'compaction_undone',
  'context_marked',
  'history_repaired',
  'processing_end',
  'settings',
  'conversation_rewound',
  'conversation_rewind_undone',
])
