import { asApiError, type Call } from '../api'
import { emptyDraft, isWhole, tidy } from '../model/hooks'
import { oneAtATime } from '../model/oneAtATime'
import type {
  HookDraft,
  HookDryRunReply,
  HookLogEntry,
  HookPoint,
  HookRow,
  HookSaveRequest,
  HookTemplate,
  Scope,
} from '../types.gen'
import { Attempts } from './resource.svelte'

/** The scopes in which a hook can be kept. */
export type HookScope = Extract<Scope, 'user' | 'project' | 'local'>
export const hookScopes: readonly HookScope[] = ['user', 'project', 'local']

/** A hook that the user writes or changes, and what it would do. */
export class HookEditor extends Attempts {
  scope = $state<HookScope>('local')
  /** The hook that it replaces. */
  readonly instead?: HookRow
  /** What the draft matches; undefined until that is known. */
  tried = $state.raw<HookDryRunReply>()
  /** What it answered to the example, or to the input that the user wrote. */
  tested = $state.raw<HookLogEntry>()
  /** The input of a test as text; empty takes the example. */
  input = $state('')
  /** What would be saved, as JSON. While it is shown, the next step saves it. */
  confirming = $state<string>()
  /** The template's example; undefined takes that of the point. */
  example = $state.raw<unknown>()
  #draft = $state.raw<HookDraft>(emptyDraft)

  constructor(call: Call, row?: HookRow) {
    super(call)
    this.instead = row
    if (row) {
      this.#draft = row.draft
      void this.#match()
    }
  }

  get draft(): HookDraft {
    return this.#draft
  }

  /** Whether it can be saved. */
  readonly ready = $derived(isWhole(this.#draft))

  change(change: Partial<HookDraft>): void {
    this.#draft = { ...this.#draft, ...change }
    this.tested = undefined
    this.confirming = undefined
    this.problem = null
    if (!change.point && change.matcher === undefined && change.if === undefined) return
    this.tried = undefined
    if (change.point) {
      this.input = ''
      this.example = undefined
    }
    void this.#match()
  }

  setCommand(command: string): void {
    this.change({ action: { ...this.#draft.action, command } })
  }

  take({ draft, example }: HookTemplate): void {
    this.change(draft)
    this.example = example
  }

  choosePoint(point: HookPoint): void {
    this.change({ point })
  }

  /** Runs it once on the example or on the input that was written. Its answer has no effect. */
  async test(): Promise<void> {
    await this.#work(async () => {
      const input = inputOf(this.input) ?? this.example
      this.tested = await this.call('hooks.test', {
        draft: tidy(this.#draft),
        replaces: this.instead?.id,
        input,
      })
    })
  }

  /** Runs it on the newest calls of the project that it matches. Its answers have no effect. */
  async dryRun(): Promise<void> {
    await this.#work(async () => {
      this.tried = await this.call('hooks.dry_run', {
        draft: tidy(this.#draft),
        replaces: this.instead?.id,
        run: true,
      })
    })
  }

  /** Shows what would be saved, with the members of the hook that are kept. */
  async confirm(): Promise<void> {
    await this.#work(async () => {
      const { json } = await this.call('hooks.preview', this.#request)
      this.confirming = json
    })
  }

  save(): Promise<HookRow> {
    return this.call('hooks.save', this.#request)
  }

  get #request(): HookSaveRequest {
    const { instead, scope } = this
    return { draft: tidy(this.#draft), ...(instead ? { replaces: instead.id } : { scope }) }
  }

  readonly #match = oneAtATime(async () => {
    const draft = this.#draft
    try {
      // Its matches are known before its command is written.
      const action = isWhole(draft) ? draft.action : { kind: 'command' as const, command: 'true' }
      const tried = await this.call('hooks.dry_run', {
        draft: tidy({ ...draft, action }),
        replaces: this.instead?.id,
      })
      if (draft === this.#draft) this.tried = tried
    } catch (thrown) {
      if (draft === this.#draft) this.problem = asApiError(thrown)
    }
  })

  async #work(work: () => Promise<void>): Promise<void> {
    if (!this.busy) await this.attempt(work)
  }
}

/** The input as JSON. Anything else is sent as a text, which is refused with the reason. */
function inputOf(text: string): unknown {
  if (!text.trim()) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
