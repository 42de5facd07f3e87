import { type Api, ApiError, asApiError, type Call, type Status } from '../api'
import type { Desktop } from '../desktop'
import { Agents } from './agents.svelte'
import { Approvals } from './approvals.svelte'
import { Branches } from './branches.svelte'
import { Runs } from './runs.svelte'
import { AllWork } from './work.svelte'
import { bypass } from '../model/modes'
import type { Conversation } from './conversation.svelte'
import { Changes } from './changes.svelte'
import { Attachments } from './attachments.svelte'
import { Commands } from './commands.svelte'
import { Confinement } from './confinement.svelte'
import { ContextOfSession } from './context.svelte'
import { Costs } from './costs.svelte'
import { dropComments } from './comments.svelte'
import { dropDrafts, handOver } from './drafts.svelte'
import { Editors } from './editors.svelte'
import { Files } from './files.svelte'
import { Schedules } from './schedules.svelte'
import { Together } from './together.svelte'
import { Worktrees } from './worktrees.svelte'
import { changesFiles, changesOnDisk } from '../model/changes'
import { together } from '../model/spending'
import { t } from '../i18n/i18n.svelte'
import { Guide } from './guide.svelte'
import { fit } from './fit'
import { Hooks } from './hooks.svelte'
import { Kept } from './kept.svelte'
import { planTool, todoTool } from '../model/todos'
import { RecentConversations, lastOpen, rememberOpen } from './recentConversations'
import { oneAtATime } from '../model/oneAtATime'
import { Memory } from './memory.svelte'
import { afterPaint, beforePaint } from './paint'
import { Permissions } from './permissions.svelte'
import { Memo } from './memo.svelte'
import { Keymap } from './keymap.svelte'
import { Prompts } from './prompts.svelte'
import { KeptPreferences } from './preferences.svelte'
import { Projects } from './projects.svelte'
import { Search } from './search.svelte'
import { Aside } from './aside.svelte'
import { Shares } from './shares.svelte'
import { Transcripts } from './transcripts.svelte'
import { Servers } from './servers.svelte'
import { Sessions } from './sessions.svelte'
import { Skills } from './skills.svelte'
import { Store } from './store.svelte'
import { Tasks } from './tasks.svelte'
import { Terminals } from './terminals.svelte'
import type {
  CommandCall,
  Envelope,
  Event,
  Preferences,
  ProjectInfo,
  SessionInfo,
  Settings,
} from '../types.gen'
import { Trace } from './trace.svelte'
import { Undo } from './undo.svelte'
import { UnsentKeeper } from './unsent.svelte'
import { Catalog } from './catalog.svelte'

/** The events after which the costs are read again. The end of a turn covers its failed requests. */
const costly: ReadonlySet<Event['kind']> = new Set([
  'assistant_text_end',
  'side_request',
  'processing_end',
])

/** The state of the page: the project, its sessions, and the open session. */
export class Workbench {
  project = $state.raw<ProjectInfo>()
  status = $state<Status>('connecting')
  /** Why the page cannot show anything. */
  fatal = $state.raw<ApiError | null>(null)
  /** The last failure of something that does not belong to a session. */
  problem = $state.raw<ApiError | null>(null)
  /** The session that was deleted last, while that can be undone in the list. */
  deleted = $state.raw<{ session: SessionInfo; isOpen: boolean }>()
  /** The open session; null is the start of a new session. */
  conversation = $state.raw<Conversation | null>(null)
  readonly desktop: Desktop
  readonly sessions: Sessions
  readonly agents: Agents
  readonly approvals: Approvals
  readonly tasks: Tasks
  readonly catalog: Catalog
  readonly costs: Costs
  readonly context: ContextOfSession
  readonly memory: Memory
  readonly changes: Changes
  readonly worktrees: Worktrees
  readonly schedules: Schedules
  readonly together: Together
  readonly branches: Branches
  readonly runs: Runs
  readonly work: AllWork
  readonly permissions: Permissions
  readonly hooks: Hooks
  readonly servers: Servers
  readonly skills: Skills
  readonly commands: Commands
  readonly attachments: Attachments
  readonly projects: Projects
  readonly editors: Editors
  readonly files: Files
  readonly confinement: Confinement
  /** Makes a state that a part of the page which loads later has for itself. */
  readonly make: <T>(State: new (call: Call) => T) => T
  readonly terminals: Terminals
  readonly trace: Trace
  readonly search: Search
  readonly transcripts: Transcripts
  readonly shares: Shares
  readonly aside: Aside
  readonly prompts: Prompts
  readonly memo: Memo
  readonly keymap: Keymap
  readonly store: Store
  readonly undo: Undo
  /** The list of tasks of a session's agent. */
  readonly todos: Kept
  /** The plan that the user approved in a session. */
  readonly plans: Kept
  readonly guide = new Guide(this)
  readonly #preferences: KeptPreferences
  readonly #unsent: UnsentKeeper

  /** The settings of new sessions. */
  readonly newSession = $derived.by<Settings | undefined>(() => {
    const wish = this.preferences?.new_session
    return wish && { ...this.catalog.usable(wish), budget: wish.budget }
  })

  /** The settings that the pickers show: those of the open session, or those of new sessions. */
  readonly settings = $derived.by<Settings | undefined>(() => {
    const { conversation } = this
    // The list knows them before the conversation is loaded: a new session keeps the pickers where they are.
    if (conversation) return conversation.settings ?? this.sessions.find(conversation.id)?.settings
    const { newSession } = this
    return newSession && this.#bypassNext ? { ...newSession, mode: bypass } : newSession
  })

  /** What the open session and its agents cost; undefined before their first request. */
  readonly cost = $derived.by(() => {
    const { conversation } = this
    if (!conversation) return undefined
    const agents = this.agents.of(conversation.id)
    return together([conversation.view.cost, ...agents.map((agent) => agent.cost)])
  })

  /** The open session, if it has a worktree of its own. */
  readonly treeSession = $derived.by(() => {
    const id = this.conversation?.id
    return id && this.sessions.find(id)?.worktree ? id : undefined
  })

  /** The ids of the open session and its agents. */
  readonly family = $derived.by(() => {
    const id = this.conversation?.id
    return id ? this.#familyOf(id) : []
  })

  /** Called with every envelope that arrives. */
  heard?: (envelope: Envelope) => void

  /** The next session begins in the mode that never asks; sessions after it do not. */
  #bypassNext = $state(false)
  #api: Api
  #call: Call
  #recent: RecentConversations
  #arrived: Envelope[] = []
  #wasConnected = false

  constructor(api: Api) {
    const { call } = api
    this.#api = api
    this.#call = call
    this.desktop = api.desktop
    this.#recent = new RecentConversations(call)
    this.sessions = new Sessions(call, () => this.servers.questions)
    this.agents = new Agents(this.sessions, call)
    this.approvals = new Approvals(call)
    this.todos = new Kept(call, todoTool)
    this.plans = new Kept(call, planTool)
    this.tasks = new Tasks(
      call,
      (problem) => (this.problem = problem),
      (url) => this.openLink(url),
    )
    this.catalog = new Catalog(call)
    this.costs = new Costs(call)
    this.context = new ContextOfSession(call)
    this.trace = new Trace(call)
    this.memory = new Memory(call)
    this.changes = new Changes(call)
    this.worktrees = new Worktrees(call)
    this.schedules = new Schedules(call)
    this.together = new Together(call)
    this.branches = new Branches(call)
    this.runs = new Runs(call)
    this.work = new AllWork(call)
    this.permissions = new Permissions(call)
    this.hooks = new Hooks(call)
    this.commands = new Commands(
      call,
      (problem) => (this.problem = problem),
      () => this.sessions.families.map(({ session }) => session),
    )
    this.attachments = new Attachments(call, fit)
    this.servers = new Servers(call, (url) => this.openLink(url))
    this.skills = new Skills(call, this.hooks.trust)
    this.servers.onchange = () => void this.commands.load()
    this.projects = new Projects(call, api.desktop)
    this.editors = new Editors(call)
    this.files = new Files(call)
    this.prompts = new Prompts(call)
    this.memo = new Memo(call)
    this.keymap = new Keymap(call)
    this.confinement = new Confinement(call)
    this.make = (State) => new State(call)
    this.terminals = new Terminals(call)
    this.search = new Search(call)
    this.transcripts = new Transcripts(call)
    this.shares = new Shares(call)
    this.aside = new Aside(call)
    this.store = new Store(call, () => this.sessions.load())
    this.undo = new Undo(call)
    this.#unsent = new UnsentKeeper(call)
    this.#preferences = new KeptPreferences(call, (work) => this.attempt(work))
  }

  /** The user's preferences; undefined until they were loaded. */
  get preferences(): Preferences | undefined {
    return this.#preferences.value
  }

  start(): void {
    const paint = beforePaint(() => this.#apply())
    this.#api.connect(
      (envelope) => {
        this.#arrived.push(envelope)
        paint()
      },
      (status) => this.#follow(status),
    )
    void this.load()
  }

  /** Reads everything that the first screen needs. */
  async load(): Promise<void> {
    this.fatal = null
    try {
      const [project, preferences] = await Promise.all([
        this.#call('project.info', {}),
        this.#call('preferences.get', {}),
        this.sessions.load(),
        this.tasks.load(),
        this.approvals.load(),
        this.hooks.trust.load(),
        this.catalog.load(),
        this.#unsent.load(),
      ])
      await this.#preferences.take(preferences)
      if (preferences.damaged) {
        this.problem = new ApiError({
          code: 'store_corrupt',
          message: t('settings.damaged'),
          next: t('settings.damaged_next'),
        })
      }
      await this.guide.consider()
      const last = lastOpen(project.folder)
      const known = last ? await this.sessions.know(last) : undefined
      const session = known?.marks?.deleted || !known ? this.sessions.shown[0]?.session : known
      if (session && !this.conversation) this.open(session.id)
      else void this.#loadCosts()
      this.project = project
      this.#followSession()
      void this.store.load()
      void this.confinement.load().catch(() => {}) // the mode auto is then named without it
    } catch (thrown) {
      this.fatal = asApiError(thrown)
    }
  }

  open(id: string): void {
    if (this.conversation?.id === id) return
    this.#bypassNext = false
    this.conversation = this.#recent.conversation(id)
    void this.sessions.know(id)
    this.agents.keep(id)
    // Slow calls wait until the conversation is drawn.
    const drawn = this.conversation.open().then(afterPaint)
    this.costs.follow(id)
    void drawn.then(this.#loadCosts)
    this.#followSession(drawn)
    this.#remember(id)
  }

  /** Shows the start of a new session, which is created with its first message. */
  compose(): void {
    this.#bypassNext = false
    this.conversation = null
    this.agents.keep(undefined)
    void this.#loadCosts()
    this.#followSession()
    this.#remember('')
  }

  /** Sends a message to the open session or to a new one; false if it was not accepted. */
  send = (text: string, command?: CommandCall): Promise<boolean> =>
    this.#give((to) => to.send(text, command))

  /** Runs the user's command in the open session or in a new one. */
  run = (command: string): Promise<boolean> => this.#give((to) => to.run(command))

  async #give(what: (to: Conversation) => Promise<boolean>): Promise<boolean> {
    try {
      // A new session must begin in the mode that is shown.
      await this.#preferences.saved
      if (!this.conversation) await this.#begin()
    } catch (thrown) {
      this.problem = asApiError(thrown)
      return false
    }
    return what(this.conversation!)
  }

  async #begin(): Promise<void> {
    const { id, settings } = await this.sessions.create()
    const asksNothing = this.#bypassNext
    // Text that is typed in the meantime belongs to the session as well.
    handOver(this.project?.folder ?? '', id)
    this.open(id)
    // The next message waits for it.
    if (asksNothing) void this.conversation?.configure({ ...settings, mode: bypass })
  }

  async configure(settings: Settings): Promise<void> {
    if (this.conversation) return this.conversation.configure(settings)
    this.#bypassNext = settings.mode === bypass
    const mode = this.#bypassNext
      ? (this.preferences?.new_session.mode ?? 'default')
      : settings.mode
    await this.prefer({ new_session: { ...settings, mode } })
  }

  prefer = (change: Partial<Preferences>): Promise<void> => this.#preferences.change(change)

  /** Deletes a session, which can be restored. */
  async delete(id: string): Promise<void> {
    const isOpen = this.#isOpen(id)
    await this.attempt(() => this.sessions.mark(id, { deleted: true }))
    const session = this.sessions.find(id)
    if (!session?.marks?.deleted) return
    this.deleted = { session, isOpen }
    if (isOpen) this.compose()
  }

  /** Restores the session that was deleted last. */
  async undelete(): Promise<void> {
    const { deleted } = this
    this.deleted = undefined
    if (!deleted) return
    const { id } = deleted.session
    await this.attempt(() => this.sessions.mark(id, { deleted: false }))
    if (deleted.isOpen && !this.conversation) this.open(id)
  }

  /** Removes a session and its agents for good. */
  async remove(id: string): Promise<void> {
    const family = this.#familyOf(id)
    await this.attempt(() => this.sessions.remove(id))
    if (!this.sessions.find(id)) this.#forget(family)
  }

  /** The ids of a session and its agents. */
  #familyOf = (id: string): string[] => [id, ...this.agents.of(id).map((agent) => agent.id)]

  /** Whether the session, or an agent of it, is open. */
  #isOpen = (id: string): boolean =>
    this.conversation !== null && this.#familyOf(id).includes(this.conversation.id)

  /** Leaves nothing of sessions that were removed for good, by this page or by another one. */
  #forget(gone: readonly string[]): void {
    for (const id of gone) this.#recent.forget(id)
    if (this.deleted && gone.includes(this.deleted.session.id)) this.deleted = undefined
    if (this.conversation && gone.includes(this.conversation.id)) this.compose()
    for (const id of gone) {
      dropDrafts(id)
      dropComments(id)
    }
  }

  /** Runs work and shows the user its failure. */
  async attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (thrown) {
      this.problem = asApiError(thrown)
    }
  }

  /** Opens a file of the project in the user's editor. */
  openFile(path: string, line: number): Promise<void> {
    return this.attempt(async () => void (await this.#call('files.open', { path, line })))
  }

  openLink(url: string): void {
    void this.attempt(() => this.#api.openLink(url))
  }

  #apply(): void {
    for (const envelope of this.#arrived.splice(0)) {
      const gone = (envelope.events ?? []).flatMap((event) =>
        event.kind === 'sessions_change' ? this.#familyOf(event.data.removed) : [],
      )
      this.sessions.receive(envelope)
      if (gone.length > 0) this.#forget(gone)
      this.agents.receive(envelope)
      this.together.receive(envelope)
      this.approvals.receive(envelope)
      this.tasks.receive(envelope)
      this.permissions.receive(envelope)
      this.branches.receive(envelope)
      this.runs.receive(envelope)
      this.context.receive(envelope)
      this.trace.receive(envelope)
      this.hooks.receive(envelope)
      this.schedules.receive(envelope)
      this.servers.receive(envelope)
      this.skills.receive(envelope)
      this.commands.receive(envelope)
      this.guide.hear(envelope)
      this.heard?.(envelope)
      if (this.conversation?.id === envelope.session) this.#hear(this.conversation, envelope)
      if (envelope.events?.some(({ kind }) => costly.has(kind))) void this.#loadCosts()
    }
  }

  /** Follows the open session, and notices its first change and the ends of its turns. */
  #hear(conversation: Conversation, envelope: Envelope): void {
    const kinds = envelope.events?.map(({ kind }) => kind) ?? []
    const hadChanged = changesFiles(conversation.view.entries)
    conversation.receive(envelope)
    if (kinds.includes('tool_call_end') && !hadChanged && !conversation.log.newest.more) {
      if (changesFiles(conversation.view.entries)) this.changes.onfirst()
    }
    if (envelope.events?.some(changesOnDisk)) this.changes.loadSoon()
    if (kinds.includes('processing_end') || kinds.includes('files_restored')) {
      void this.changes.load()
    }
  }

  /** Shows what the open session or, without one, the project has: changes, servers, commands and rules. */
  #followSession(ready?: Promise<void>): void {
    const id = this.conversation?.id
    this.changes.follow(id, this.project?.folder ?? '', ready)
    this.branches.follow(id)
    this.context.follow(id)
    this.trace.follow(id)
    this.servers.follow(id)
    this.commands.follow(id)
    this.permissions.rules.follow(id, ready)
  }

  #follow(status: Status): void {
    this.status = status
    if (status === 'reconnecting') this.tasks.lose()
    if (status !== 'connected') return
    if (this.fatal) void this.load() // the page was signed out until now
    if (this.#wasConnected) {
      void this.attempt(() => this.sessions.load())
      void this.attempt(() => this.tasks.load())
      void this.approvals.load()
      void this.#unsent.load()
      void this.hooks.trust.load()
      void this.servers.load()
      void this.permissions.rules.load()
      void this.skills.refresh()
      void this.commands.load()
      void this.conversation?.open()
      this.agents.reopen()
      void this.#loadCosts()
      void this.changes.load()
    }
    this.#wasConnected = true
  }

  /** Reads the costs, never twice at the same time. */
  readonly #loadCosts = oneAtATime(() => this.attempt(() => this.costs.load(this.conversation?.id)))

  #remember(id: string): void {
    if (this.project) rememberOpen(this.project.folder, id)
  }
}
