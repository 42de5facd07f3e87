import type {
  AddRequest,
  Decision,
  Envelope,
  LedgerRow,
  RuleEntry,
  RuleRef,
  SettingsFile,
  SuggestedRule,
  TryReply,
} from '../types.gen'
import { Resource } from './resource.svelte'

/** Whether a file has something that the user has to know of. */
export const isRemarkable = (file: SettingsFile): boolean =>
  needsUser(file) || Boolean(file.unknown)

const needsUser = (file: SettingsFile) => Boolean(file.problem || file.unaccepted || file.sandbox)

/** The permission rules of all scopes, as their files have them, and those of the open session. */
export class Rules extends Resource {
  list = $state.raw<readonly RuleEntry[]>([])
  files = $state.raw<readonly SettingsFile[]>([])
  /** The rule that was removed last, while that can be undone. */
  removed = $state.raw<RuleEntry>()
  #session = $state('')

  get hasSession(): boolean {
    return this.#session !== ''
  }

  /** How many files have something that the user has not accepted, or cannot be read. */
  get waiting(): number {
    return this.files.filter(needsUser).length
  }

  /** Follows a session once something else is ready; without one, only lasting rules are listed. */
  follow(session: string | undefined, ready?: Promise<void>): void {
    this.#session = session ?? ''
    this.removed = undefined
    if (ready) void ready.then(this.load)
    else void this.load()
  }

  receive(envelope: Envelope): void {
    if (envelope.events?.some(({ kind }) => kind === 'rules_change')) void this.load()
  }

  readonly load = this.reading(
    () => this.call('permissions.rules', this.#of),
    ({ rules = [], files = [] }) => {
      this.list = rules
      this.files = files
    },
    () => this.#session,
  )

  /** The rule that decided about a call; undefined if it no longer exists. */
  standing(ref: Pick<RuleRef, 'text' | 'decision' | 'scope'> | undefined): RuleEntry | undefined {
    return this.list.find(
      ({ rule, decision, scope, state }) =>
        state !== 'expired' &&
        rule === ref?.text &&
        decision === ref.decision &&
        scope === ref.scope,
    )
  }

  /** The rules that a file allows and that the user has not accepted. */
  unaccepted({ path }: SettingsFile): readonly RuleEntry[] {
    return this.list.filter(({ file, state }) => file === path && state === 'unaccepted')
  }

  /** Adds a rule, and then removes the one that it replaces. */
  add(rule: Omit<AddRequest, 'session'>, instead?: RuleEntry): Promise<boolean> {
    return this.change(async () => {
      await this.call('permissions.add', { ...rule, ...this.#of })
      if (instead) await this.#remove(instead)
      this.removed = undefined
    })
  }

  /** Ends a rule now. It stays in its file as one that has ended. */
  end(entry: RuleEntry): Promise<boolean> {
    return this.change(async () => {
      const { rule, decision, scope } = entry
      const { file } = await this.call('permissions.add', {
        ...{ rule, decision, scope, ended: true },
        ...this.#of,
      })
      // The new one may be in another file of the same scope.
      if (file !== entry.file) await this.#remove(entry)
      this.removed = undefined
    })
  }

  remove(entry: RuleEntry): Promise<boolean> {
    return this.change(async () => {
      await this.#remove(entry)
      // Adding it again would accept it, or revive what ended.
      this.removed = entry.state === 'holds' ? entry : undefined
    })
  }

  async undo(): Promise<boolean> {
    const { rule, decision, scope, expires } = this.removed!
    return this.add({ rule, decision, scope, expires })
  }

  /** Accepts what a file allows, exactly as it was listed. */
  accept({ path, seal = '' }: SettingsFile): Promise<boolean> {
    return this.change(() => this.call('permissions.accept', { path, seal }))
  }

  /** Which of the project's past calls a rule would have matched. It throws if the rule cannot be read. */
  tryOut = (rule: string, decision: Decision): Promise<TryReply> =>
    this.call('permissions.try', { rule, decision })

  /** Rules for a call that has ended, the narrowest first. */
  async suggest({ place: { session, seq } }: LedgerRow): Promise<readonly SuggestedRule[]> {
    const { rules = [] } = await this.call('permissions.suggest_for_call', { session, seq })
    return rules
  }

  get #of(): { session?: string } {
    return { session: this.#session || undefined }
  }

  #remove({ rule, decision, scope, file }: RuleEntry): Promise<unknown> {
    return this.call('permissions.remove', { rule, decision, scope, file, ...this.#of })
  }
}
