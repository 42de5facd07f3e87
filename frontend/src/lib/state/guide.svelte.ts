import type { Envelope, Preferences, Settings } from '../types.gen'
import type { Catalog } from './catalog.svelte'
import type { Projects } from './projects.svelte'
import type { Sessions } from './sessions.svelte'

/** What the guide needs of the page's state. */
type Bench = {
  readonly preferences: Preferences | undefined
  readonly settings: Settings | undefined
  readonly catalog: Pick<Catalog, 'demoOnly' | 'isScript'>
  readonly sessions: Pick<Sessions, 'list' | 'find'>
  readonly projects: Pick<Projects, 'load' | 'list'>
  prefer(change: Partial<Preferences>): Promise<void>
  compose(): void
}

/**
 * The first steps of a new user: connect a model, learn what the agent may do, ask a first question. It ends for
 * good with the first answer of a model, or when the user dismisses it; Settings brings it back.
 */
export class Guide {
  #bench: Bench
  #hasRead = $state(false)

  readonly shown = $derived.by(() => this.#bench.preferences?.guide === 'on')

  /** The step that the user has to take next. */
  readonly step = $derived.by<1 | 2 | 3>(() => {
    const { settings, catalog } = this.#bench
    if (!settings?.model || catalog.isScript(settings.provider, settings.model)) return 1
    return this.#hasRead ? 3 : 2
  })

  constructor(bench: Bench) {
    this.#bench = bench
  }

  /** Begins for somebody without a key, a session and another project, unless the guide ended before. */
  async consider(): Promise<void> {
    const { preferences, catalog, sessions, projects } = this.#bench
    if (!preferences || preferences.guide || preferences.damaged) return
    if (!catalog.demoOnly || sessions.list.length > 0) return
    await projects.load()
    if (projects.list.every(({ current }) => current)) void this.#bench.prefer({ guide: 'on' })
  }

  /** Begins again, because the user asks for it. */
  begin(): void {
    this.#hasRead = false
    this.#bench.compose()
    void this.#bench.prefer({ guide: 'on' })
  }

  /** The user knows what the agent may do. */
  read(): void {
    this.#hasRead = true
  }

  end(): void {
    void this.#bench.prefer({ guide: 'over' })
  }

  /** Takes an envelope of any session. */
  hear({ session, events }: Envelope): void {
    if (!this.shown) return
    const isAnswered = events?.some(
      (event) => event.kind === 'processing_end' && event.data.reason === 'done',
    )
    const settings = this.#bench.sessions.find(session)?.settings
    if (!isAnswered || !settings) return
    if (!this.#bench.catalog.isScript(settings.provider, settings.model)) this.end()
  }
}
