import { type ApiError, asApiError, type Call } from '../api'
import { isOfSession, partlyStaged } from '../model/changes'
import { oneAtATime } from '../model/oneAtATime'
import type {
  ChangedFile,
  ChangeScope,
  ChangesReply,
  CommitReply,
  DiffReply,
  Staged,
} from '../types.gen'
import { Authors } from './authors.svelte'
import { Comments } from './comments.svelte'
import { Faults } from './languages.svelte'

/** What changed in the project: the files of a scope, and the difference of one of them. */
export class Changes {
  /** What the user chose to see. */
  wish = $state<ChangeScope>('session')
  list = $state.raw<ChangesReply>()
  /** Why the list could not be read. */
  failure = $state.raw<ApiError | null>(null)
  /** Why what the user asked for was not done. */
  problem = $state.raw<ApiError | null>(null)
  /** The file whose difference is shown, and whether that is its staged part. */
  path = $state<string>()
  #group = $state<Staged>()
  diff = $state.raw<DiffReply>()
  loading = $state(false)
  /** Something is being done that changes files or the repository. */
  busy = $state(false)
  /** The message of a commit that was not made yet. */
  message = $state('')
  readonly comments = new Comments()
  /** Who wrote the file whose difference is shown. */
  readonly authors: Authors
  /** What language servers find wrong with the files. */
  readonly faults: Faults
  /** Told that a session has changed its first file. */
  onfirst: () => void = () => {}

  /** Without a session there are no edits of one. */
  readonly scope = $derived.by<ChangeScope>(() =>
    !this.#session && isOfSession(this.wish) ? 'uncommitted' : this.wish,
  )
  readonly files = $derived.by<readonly ChangedFile[]>(() => this.list?.files ?? [])
  readonly file = $derived.by(() => this.files.find(this.isOpen))
  /** Files are staged and committed here. */
  readonly stages = $derived.by(() => this.scope === 'uncommitted' && this.list?.git === 'ready')
  /** Files of which only a part is staged: they are listed twice. */
  readonly parted = $derived.by(() => partlyStaged(this.files))
  #session = $state('')
  #base = $state('')
  #soon: ReturnType<typeof setTimeout> | undefined
  #call: Call

  constructor(call: Call) {
    this.#call = call
    this.authors = new Authors(call)
    this.faults = new Faults(call)
  }

  readonly isOpen = ({ path, staged }: ChangedFile): boolean =>
    path === this.path && (!this.stages || staged === this.#group)

  get hasSession(): boolean {
    return this.#session !== ''
  }

  /** Follows a session; without one, the project. Its changes are read once the caller is ready. */
  follow(session: string | undefined, folder: string, ready?: Promise<void>): void {
    this.comments.keep(session ?? folder)
    if (session === this.#session) return
    this.#session = session ?? ''
    this.#forget()
    void (ready ? ready.then(this.load) : this.load())
  }

  choose(scope: ChangeScope, base = ''): void {
    this.wish = scope
    this.#base = base
    this.#forget()
    void this.load()
  }

  /** Reads the list again, and the difference that is shown. */
  readonly load = oneAtATime(async () => {
    const asked = this.#asked
    this.loading = true
    try {
      const list = await this.#call('changes.list', asked)
      if (this.#isPast(asked)) return
      this.list = list
      this.failure = null
      // Staged or taken out again, the file that is open is in the other group.
      const open = this.file ?? list.files?.find(({ path }) => path === this.path)
      this.#group = open?.staged
      if (open) await this.#read(open)
      else this.#close()
    } catch (thrown) {
      if (!this.#isPast(asked)) this.failure = asApiError(thrown)
    } finally {
      this.loading = false
    }
  })

  /** Asks the language servers about the files of the list. */
  examine(): Promise<void> {
    const paths = this.files.filter(({ state }) => state !== 'deleted').map(({ path }) => path)
    return this.faults.read(this.#session || undefined, paths.slice(0, 20))
  }

  /** Reads the list soon: a turn changes many files one after the other. */
  loadSoon(): void {
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined
      void this.load()
    }, 400)
  }

  /** Reads everything anew because the user wishes it; what was refused before is past. */
  refresh(): void {
    this.problem = null
    void this.load()
  }

  /** Shows the difference of a file, or puts it away. */
  async open(file: ChangedFile | undefined): Promise<void> {
    this.#close()
    this.problem = null
    if (!file) return
    this.path = file.path
    this.#group = file.staged
    const asked = this.#asked
    try {
      await this.#read(file)
    } catch (thrown) {
      if (!this.#isPast(asked)) this.problem = asApiError(thrown)
    }
  }

  /** Reads unchanged lines of the file that is shown. */
  async lines(from: number, to: number): Promise<string[] | undefined> {
    const path = this.path
    if (!path) return undefined
    try {
      const { lines = [] } = await this.#call('changes.lines', { ...this.#place, path, from, to })
      return lines
    } catch (thrown) {
      this.problem = asApiError(thrown)
      return undefined
    }
  }

  /** Shows who wrote the lines, or no longer. */
  async blame(wished: boolean): Promise<void> {
    this.authors.wished = wished
    this.authors.clear()
    if (wished && this.path && this.diff?.diff) await this.#attribute(this.path)
  }

  /** Opens a file in the user's editor, which may need a moment; other work goes on meanwhile. */
  async edit(path: string): Promise<void> {
    this.problem = null
    try {
      await this.#call('files.open', { ...this.#place, path })
    } catch (thrown) {
      this.problem = asApiError(thrown)
    }
  }

  /** Puts back a hunk or, without one, the whole change of the file that is shown. */
  putBack(file: ChangedFile, part: { hunk?: string; seen?: string }): Promise<boolean> {
    return this.#change(() =>
      this.#call('changes.put_back', { ...this.#asked, ...this.#named(file), ...part }),
    )
  }

  /** Stages files, or takes them out again. */
  stage(files: readonly ChangedFile[], staged: boolean): Promise<boolean> {
    const paths = files.flatMap(({ path, from }) => (from ? [from, path] : [path]))
    const method = staged ? 'changes.stage' : 'changes.unstage'
    return this.#change(() => this.#call(method, { ...this.#place, paths }))
  }

  /** Commits what is staged; undefined if it was refused. */
  async commit(): Promise<CommitReply | undefined> {
    const { message } = this
    let reply: CommitReply | undefined
    const request = { ...this.#place, message }
    await this.#change(async () => (reply = await this.#call('changes.commit', request)))
    if (reply) this.message = ''
    return reply
  }

  branch(name: string): Promise<boolean> {
    return this.#change(() => this.#call('changes.branch', { ...this.#place, name }))
  }

  /** A message for what would be committed; undefined if none could be written. */
  async propose(): Promise<string | undefined> {
    let message: string | undefined
    await this.#attempt(async () => {
      ;({ message } = await this.#call('changes.propose_message', this.#place))
    })
    return message
  }

  /** The session, which may have a worktree of its own. */
  get #place() {
    return { session: this.#session || undefined }
  }

  get #asked() {
    return { scope: this.scope, ...this.#place, base: this.#base || undefined }
  }

  #isPast(asked: { scope: ChangeScope; session?: string; base?: string }): boolean {
    const now = this.#asked
    return asked.scope !== now.scope || asked.session !== now.session || asked.base !== now.base
  }

  #named({ path, from, staged }: ChangedFile) {
    return { path, from, staged: this.stages ? staged : undefined }
  }

  async #read(file: ChangedFile): Promise<void> {
    const { path } = file
    const asked = this.#asked
    const diff = await this.#call('changes.diff', { ...asked, ...this.#named(file) })
    if (!this.isOpen(file) || this.#isPast(asked)) return
    this.diff = diff
    if (diff.diff && !diff.vanished) await this.#attribute(path)
  }

  async #attribute(path: string): Promise<void> {
    try {
      await this.authors.read(path, this.#place.session)
    } catch (thrown) {
      this.authors.wished = false
      this.problem = asApiError(thrown)
    }
  }

  #forget(): void {
    this.list = undefined
    this.failure = this.problem = null
    this.#close()
  }

  #close(): void {
    this.path = this.diff = this.#group = undefined
    this.authors.clear()
  }

  async #change(work: () => Promise<unknown>): Promise<boolean> {
    const done = await this.#attempt(work)
    await this.load()
    return done
  }

  async #attempt(work: () => Promise<unknown>): Promise<boolean> {
    this.busy = true
    this.problem = null
    try {
      await work()
      return true
    } catch (thrown) {
      this.problem = asApiError(thrown)
      return false
    } finally {
      this.busy = false
    }
  }
}
