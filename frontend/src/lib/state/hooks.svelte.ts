import type { Call } from '../api'
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
import { Resource } from './resource.svelte'
import { Trust } from './trust.svelte'

/** The hooks of all settings files, their log, and what of them the user trusts. */
export class Hooks extends Resource {
  /** Which part of the panel is shown. */
  part = $state<'log' | 'list'>('log')
  /** Whether somebody chose the part, or its first choice was made. */
  isPartChosen = false
  rows = $state.raw<readonly HookRow[]>([])
  files = $state.raw<readonly HookFile[]>([])
  points = $state.raw<readonly HookPointInfo[]>([])
  templates = $state.raw<readonly HookTemplate[]>([])
  /** The hook that the user writes. */
  editor = $state.raw<HookEditor>()
  readonly log: HookLog
  readonly trust: Trust
  #session = ''

  constructor(call: Call) {
    super(call)
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

  readonly load = this.reading(
    () => this.call('hooks.list', { session: this.#session || undefined }),
    ({ hooks = [], files = [] }) => {
      this.rows = hooks
      this.files = files
    },
  )

  find = (id: string): HookRow | undefined => this.rows.find((row) => row.id === id)

  switch(id: string, on: boolean): Promise<boolean> {
    return this.change(() => this.call('hooks.switch', { id, on }))
  }

  remove(id: string): Promise<boolean> {
    return this.change(() => this.call('hooks.remove', { id }))
  }

  /** Does without hooks that were taken out of their file. */
  forget(missing: readonly HookMissing[]): Promise<boolean> {
    return this.change(async () => {
      for (const { id } of missing) await this.call('trust.revoke', { id })
    })
  }

  /** Opens the editor for an existing hook or a new one. */
  async write(row?: HookRow): Promise<void> {
    if (await this.does(() => this.#learn())) this.editor = new HookEditor(this.call, row)
  }

  /** Saves what the editor has, and closes it. */
  async save(): Promise<boolean> {
    const { editor } = this
    if (!editor) return false
    let saved: HookRow | undefined
    const isSaved = await this.change(async () => (saved = await editor.save()))
    if (isSaved) this.editor = undefined
    // It runs files that were not shown with it.
    if (saved?.trust && saved.state === 'untrusted') void this.trust.review(saved.trust)
    return isSaved
  }

  /** Reads what does not change: the points and the templates. */
  async #learn(): Promise<void> {
    if (this.points.length > 0) return
    const [{ points = [] }, { templates = [] }] = await Promise.all([
      this.call('hooks.points', {}),
      this.call('hooks.templates', {}),
    ])
    this.points = points
    this.templates = templates
  }

  protected override async change(work: () => Promise<unknown>): Promise<boolean> {
    const isDone = await super.change(work)
    void this.trust.load()
    return isDone
  }
}
