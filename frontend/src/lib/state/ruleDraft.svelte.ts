import { type ApiError, asApiError } from '../api'
import { expiresAt, type Expiry } from '../model/expiry'
import { oneAtATime } from '../model/oneAtATime'
import type { Answer, Decision, Scope, SuggestedRule, TryReply } from '../types.gen'
import type { Approvals } from './approvals.svelte'

/** The scopes of a rule that outlives its session. */
export type LastingScope = Extract<Scope, 'local' | 'project' | 'user'>
export const lastingScopes: readonly LastingScope[] = ['local', 'project', 'user']

/** The rule that the user writes for an answer that is remembered. */
export class RuleDraft {
  suggested = $state.raw<readonly SuggestedRule[]>([])
  scope = $state<LastingScope>('local')
  expiry = $state<Expiry>('never')
  date = $state('')
  /** What the rule would have matched; undefined until that is known. */
  tried = $state.raw<TryReply>()
  /** Why the rule cannot be read. */
  problem = $state.raw<ApiError>()
  #rule = $state('')
  #approvals: Approvals

  constructor(
    approvals: Approvals,
    readonly decision: Decision,
  ) {
    this.#approvals = approvals
  }

  get rule(): string {
    return this.#rule
  }
  set rule(text: string) {
    this.#rule = text
    this.tried = this.problem = undefined
    void this.#try()
  }

  /** Reads the suggested rules, and takes the first one if nothing was written meanwhile. */
  async suggest(session: string, approval: string): Promise<void> {
    try {
      this.suggested = await this.#approvals.suggest(session, approval)
      const first = this.suggested[0]
      if (first && !this.#rule) this.rule = first.rule
    } catch (thrown) {
      this.problem = asApiError(thrown)
    }
  }

  /** The answer; undefined while the rule or its end cannot be used. */
  answer(now: number): Answer | undefined {
    const expires = expiresAt(this.expiry, this.date, now)
    const rule = this.#rule.trim()
    if (!rule || this.problem || expires === undefined) return undefined
    return { decision: this.decision, scope: this.scope, rule, ...(expires && { expires }) }
  }

  readonly #try = oneAtATime(async () => {
    const rule = this.#rule.trim()
    if (!rule) return
    try {
      const tried = await this.#approvals.attempt(rule, this.decision)
      if (rule === this.#rule.trim()) this.tried = tried
    } catch (thrown) {
      if (rule === this.#rule.trim()) this.problem = asApiError(thrown)
    }
  })
}
