import { asApiError, type Call } from '../api'
import { oneAtATime } from '../model/oneAtATime'
import type {
  Envelope,
  ServerAnswer,
  ServerFile,
  ServerQuestion,
  ServerRow,
  ServerShown,
  ServerTool,
} from '../types.gen'
import { Languages } from './languages.svelte'
import { Resource } from './resource.svelte'
import { ServerEditor } from './serverEditor.svelte'
import { ServerImports } from './serverImports.svelte'

/** How often the state is asked for while it is looked at. */
const watchMs = 3000

/** The MCP servers, as their connections are at the moment, and what they ask the user. */
export class Servers extends Resource {
  rows = $state.raw<readonly ServerRow[]>([])
  files = $state.raw<readonly ServerFile[]>([])
  /** The questions of servers that wait for an answer, of all sessions. */
  questions = $state.raw<readonly ServerQuestion[]>([])
  /** What all tools cost in each request, and whether they are found by a search instead. */
  tokens = $state(0)
  deferred = $state(false)
  /** The name of the server that is looked at. */
  open = $state<string>()
  /** Everything about that server; undefined until it was read. */
  shown = $state.raw<ServerShown>()
  /** The server that the user writes. */
  editor = $state.raw<ServerEditor>()
  /** The servers of other programs, while the user chooses from them. */
  imports = $state.raw<ServerImports>()
  /** Called once servers changed. */
  onchange: () => void = () => {}
  /** The language servers, which a person looks at in the same place. */
  readonly languages: Languages
  #session = ''
  #openLink: (url: string) => void

  /** How many servers and questions need the user. */
  readonly needing = $derived(
    this.questions.length +
      this.rows.filter(({ state, counts }) => needsUser(state) || counts.changed).length,
  )

  constructor(call: Call, openLink: (url: string) => void) {
    super(call)
    this.#openLink = openLink
    this.languages = new Languages(call)
  }

  receive(envelope: Envelope): void {
    if (!envelope.events?.some(({ kind }) => kind === 'servers_change')) return
    void this.load()
    this.onchange()
  }

  /** Follows a session, whose switches are shown; without one, the project. */
  follow(session: string | undefined): void {
    this.#session = session ?? ''
    void this.load()
  }

  readonly load = oneAtATime(async () => {
    const [name, session] = [this.open, this.#at]
    try {
      const [list, shown] = await Promise.all([
        this.call('mcp.list', { session }),
        name ? this.call('mcp.show', { name, session }).catch(() => undefined) : undefined,
      ])
      if (session !== this.#at) return void this.load()
      const { servers = [], files = [], waiting = [], tokens, deferred = false } = list
      this.rows = servers
      this.files = files
      this.questions = waiting
      this.tokens = tokens
      this.deferred = deferred
      this.loaded = true
      this.failure = null
      if (name !== this.open) return
      this.shown = shown
      if (name && !shown) this.open = undefined // it was removed
    } catch (thrown) {
      this.failure = asApiError(thrown)
    }
  })

  /** Asks again and again while somebody looks. The function that it returns ends that. */
  watch(): () => void {
    const look = () => {
      if (document.visibilityState === 'visible') void this.load()
    }
    look()
    const timer = setInterval(look, watchMs)
    document.addEventListener('visibilitychange', look)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', look)
    }
  }

  find = (name: string | undefined): ServerRow | undefined =>
    this.rows.find((row) => row.name === name && row.state !== 'shadowed')

  async show(name: string | undefined): Promise<void> {
    this.open = name
    this.shown = undefined
    this.problem = null
    await this.load()
  }

  /** Switches a server or one of its tools, everywhere or in the session that is followed. */
  switch(
    server: string,
    on: boolean,
    what: { tool?: string; here?: boolean } = {},
  ): Promise<boolean> {
    const { tool, here } = what
    const session = here ? this.#at : undefined
    return this.change(() => this.call('mcp.switch', { server, tool, session, on }))
  }

  async reconnect(name: string): Promise<boolean> {
    const isDone = await this.change(() => this.call('mcp.reconnect', { name }))
    // A reason that the row shows already is not shown twice.
    const said = this.find(name)?.problem?.id
    if (said && said === this.problem?.id) this.problem = null
    return isDone
  }

  remove(name: string): Promise<boolean> {
    return this.change(async () => {
      await this.call('mcp.remove', { name })
      if (this.open === name) this.open = undefined
    })
  }

  /** Opens the page where the user authorises Atelier. The server's row tells how it went. */
  authorise(name: string): Promise<boolean> {
    return this.change(async () => this.#openLink((await this.call('mcp.authorise', { name })).url))
  }

  /** Opens that page once more. */
  openAgain({ auth }: ServerRow): void {
    if (auth.url) this.#openLink(auth.url)
  }

  /** Removes the authorisation for a server. */
  forget(name: string): Promise<boolean> {
    return this.change(() => this.call('mcp.forget', { name }))
  }

  /** Accepts a tool as it was shown, after its server changed it. */
  accept(server: string, { name: tool, seal = '' }: ServerTool): Promise<boolean> {
    return this.change(() => this.call('mcp.accept_tool', { server, tool, seal }))
  }

  /** Delivers an answer; false if it could not be delivered. */
  answer(given: ServerAnswer): Promise<boolean> {
    return this.change(() => this.call('mcp.answer', given))
  }

  /** Agrees to open an address that a server asks for, and opens it. */
  async followLink({ id, link }: ServerQuestion): Promise<boolean> {
    if (link) this.#openLink(link.url)
    return this.answer({ id, action: 'accept' })
  }

  /** Opens the editor for an existing server or a new one. */
  write(row?: ServerRow): void {
    this.problem = null
    this.imports = undefined
    this.editor = new ServerEditor(this.call, row)
  }

  /** Saves what the editor has, and closes it. */
  async save(): Promise<boolean> {
    const { editor } = this
    if (!editor) return false
    this.busy = true
    const isSaved = await editor.save()
    this.busy = false
    if (!isSaved) return false
    this.editor = undefined
    if (editor.instead?.name === this.open) this.open = undefined
    await this.load()
    return true
  }

  /** Looks for servers of other programs. */
  async choose(): Promise<void> {
    this.problem = null
    this.imports = new ServerImports(this.call)
    await this.imports.load()
  }

  async import(): Promise<number> {
    const { imports } = this
    if (!imports) return 0
    this.busy = true
    const count = await imports.import()
    this.busy = false
    if (count > 0 && !imports.problem) this.imports = undefined
    await this.load()
    return count
  }

  get #at(): string | undefined {
    return this.#session || undefined
  }

  /** Whether a session is followed, so that a switch can apply to it alone. */
  get hasSession(): boolean {
    return this.#session !== ''
  }
}

/** The states in which a server waits for the user. */
const needsUser = (state: ServerRow['state']): boolean =>
  state === 'needs_auth' || state === 'untrusted' || state === 'changed'
