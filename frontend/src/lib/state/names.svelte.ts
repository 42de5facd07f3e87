import type { Call } from '../api'
import { namesOf, prepareNames } from '../model/mention'
import { oneAtATime } from '../model/oneAtATime'
import type { CodeSymbol, SessionInfo } from '../types.gen'

/** Something of a server of tools that a message can name. */
export type NamedResource = { server: string; uri: string; label: string }

/** What a message can mention: the project's files, symbols and sessions, and resources of servers. */
export class Names {
  list = $state.raw<readonly string[]>([])
  resources = $state.raw<readonly NamedResource[]>([])
  /** The symbols that the query found which was answered last. */
  symbols = $state.raw<{ query: string; found: readonly CodeSymbol[] }>({ query: '', found: [] })
  #call: Call
  #session: () => string | undefined
  #sessions: () => readonly SessionInfo[]
  #asked = ''

  constructor(
    call: Call,
    session: () => string | undefined,
    sessions: () => readonly SessionInfo[] = () => [],
  ) {
    this.#call = call
    this.#session = session
    this.#sessions = sessions
  }

  /** The other sessions, the newest first. */
  get sessions(): readonly SessionInfo[] {
    return this.#sessions().filter(({ id }) => id !== this.#session())
  }

  /** Reads the files and resources again; until then the known ones stay. */
  readonly load = oneAtATime(async () => {
    const resources = this.#resources()
    try {
      const { files } = await this.#call('files.list', { session: this.#session() })
      // A name in quotes has control characters.
      const list = namesOf((files ?? []).filter((name) => !name.startsWith('"')))
      prepareNames(list)
      this.list = list
    } catch {
      this.list = [] // a name can be typed all the same
    }
    this.resources = await resources
  })

  /** Looks for symbols; an answer to an earlier question is dropped. */
  async find(query: string): Promise<void> {
    if (query === this.#asked) return
    this.#asked = query
    try {
      const { symbols } = await this.#call('symbols.find', { session: this.#session(), query })
      if (query === this.#asked) this.symbols = { query, found: symbols ?? [] }
    } catch {
      this.#asked = '' // it is asked again with the next letter
    }
  }

  async #resources(): Promise<readonly NamedResource[]> {
    const session = this.#session()
    try {
      const { servers = [] } = await this.#call('mcp.list', { session, no_connect: true })
      const having = servers.filter((row) => row.state === 'connected' && row.counts.resources)
      const shown = await Promise.all(
        having.map(({ name }) => this.#call('mcp.show', { name, session })),
      )
      return shown.flatMap(({ resources = [] }, at) =>
        resources
          .filter(({ template }) => !template)
          .map(({ uri, name }) => ({ server: having[at]!.name, uri, label: name || uri })),
      )
    } catch {
      return []
    }
  }
}
