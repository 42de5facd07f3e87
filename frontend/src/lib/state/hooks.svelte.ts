import { type ApiError, asApiError, type Call } from '../api'
import { oneAtATime } from '../model/oneAtATime'
import type {
  Envelope,
  HookFile,
  HookMissing,
  HookPointInfo,
  HookRow,
  HookTemplate,
} from '../types.gen'
import { HookEditor } from './hookEditor.svelte'
import { HookLog } from './hookLog.svelte'
import { Trust } from './trust.svelte'

/** The hooks of all settings files, their log, and what of them the user trusts. */
export class Hooks {
  /** Which part of the panel is shown. */
  part = $state<'log' | 'list'>('log')
  /** Whether somebody chose the part, or its first choice was made. */
  isPartChosen = false
  rows = $state.raw<readonly HookRow[]>([])
  files = $state.raw<readonly HookFile[]>([])
  points = $state.raw<readonly HookPointInfo[]>([])
  templates = $state.raw<readonly HookTemplate[]>([])
  loaded = $state(false)
  /** Why the hooks could not be read. */
  failure = $state.raw<ApiError | null>(null)
  /** Why what the user asked for was not done. */
  problem = $state.raw<ApiError | null>(null)
  busy = $state(false)
  /** The hook that the user writes. */
  editor = $state.raw<HookEditor>()
  readonly log: HookLog
  readonly trust: Trust
  #session = ''
  #call: Call

  constructor(call: Call) {
    this.#call = call
    this.log = new HookLog(call)
    this.trust = new Trust(call)
  }

  receive(envelope: Envelope): void {
    for (const event of envelope.events ?? []) {
      // Nobody watches the programs that hooks run: a change is noticed when they would run.
      if (event.kind === 'approval_request' || event.kind === 'processing_end')
        void this.trust.load()
      if (event.kind !== 'hooks_change') continue
      if (event.data.logged) this.log.news++
      else {
        void this.trust.load()
        if (this.loaded) void this.load()
      }
    }
  }

  /** Follows a session; without one, the project. */
  follow(session: string | undefined): void {
    this.#session = session ?? ''
    this.log.follow(session)
    void this.load()
  }

  readonly load = oneAtATime(async () => {
    try {
      const { hooks = [], files = [] } = await this.#call('hooks.list', {
        session: this.#session || undefined,
      })
      this.rows = hooks
      this.files = files
      this.loaded = true
      this.failure = null
    } catch (thrown) {
      this.failure = asApiError(thrown)
    }
  })

  find = (id: string): HookRow | undefined => this.rows.find((row) => row.id === id)

  switch(id: string, on: boolean): Promise<boolean> {
    return this.#change(() => this.#call('hooks.switch', { id, on }))
  }

  remove(id: string): Promise<boolean> {
    return this.#change(() => this.#call('hooks.remove', { id }))
  }

  /** Does without hooks that were taken out of their file. */
  forget(missing: readonly HookMissing[]): Promise<boolean> {
    return this.#change(async () => {
      for (const { id } of missing) await this.#call('trust.revoke', { id })
    })
  }

  /** Opens the editor for an existing hook or a new one. */
  async write(row?: HookRow): Promise<void> {
    this.problem = null
    if (!(await this.#learn())) return
    this.editor = new HookEditor(this.#call, row)
  }

  /** Saves what the editor has, and closes it. */
  async save(): Promise<boolean> {
    const { editor } = this
    if (!editor) return false
    let saved: HookRow | undefined
    const isSaved = await this.#change(async () => (saved = await editor.save()))
    if (isSaved) this.editor = undefined
    // It runs files that were not shown with it.
    if (saved?.trust && saved.state === 'untrusted') void this.trust.review(saved.trust)
    return isSaved
  }

  /** Reads what does not change: the points and the templates. It reports false if that failed. */
  async #learn(): Promise<boolean> {
    if (this.points.length > 0) return true
    try {
      const [{ points = [] }, { templates = [] }] = await Promise.all([
        this.#call('hooks.points', {}),
        this.#call('hooks.templates', {}),
      ])
      this.points = points
      this.templates = templates
      return true
    } catch (thrown) {
      this.problem = asApiError(thrown)
      return false
    }
  }

  async #change(work: () => Promise<unknown>): Promise<boolean> {
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
      await this.load()
      void this.trust.load()
    }
  }
}
