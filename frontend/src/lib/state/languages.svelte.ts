import type { Call } from '../api'
import type { CodeFault, LanguageServer, LanguageServers, Preferences } from '../types.gen'
import { Resource } from './resource.svelte'

/** The language servers, as they are at the moment. */
export class Languages extends Resource {
  rows = $state.raw<readonly LanguageServer[]>([])
  /** Whether all of them are switched off. */
  off = $state(false)

  #take({ servers = [], off = false }: LanguageServers): void {
    this.rows = servers
    this.off = off
  }

  readonly load = this.reading(
    () => this.call('languages.list', {}),
    (reply) => this.#take(reply),
  )

  async restart({ language, root = '' }: LanguageServer): Promise<void> {
    if (this.busy) return
    await this.attempt(async () =>
      this.#take(await this.call('languages.restart', { language, root })),
    )
  }

  /** Switches the servers of a language. Those that run end. */
  async switch(
    language: string,
    on: boolean,
    before: readonly string[],
    prefer: (change: Partial<Preferences>) => Promise<unknown>,
  ): Promise<void> {
    const rest = before.filter((name) => name !== language)
    await prefer({ languages_off: on ? rest : [...rest, language] })
    await this.attempt(async () => this.#take(await this.call('languages.stop', { language })))
  }
}

/** What language servers find wrong with changed files. */
export class Faults {
  #all = $state.raw<readonly CodeFault[]>([])
  #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  /** What is wrong with one file, errors first. */
  of = (path: string): CodeFault[] => this.#all.filter((fault) => fault.path === path)

  /** Asks about files. Servers that do not run say nothing, and so does one that fails. */
  async read(session: string | undefined, paths: readonly string[]): Promise<void> {
    const { faults = [] } = await this.#call('languages.faults', {
      session,
      paths: [...paths],
    }).catch(() => ({ faults: [] }))
    this.#all = faults
  }
}
