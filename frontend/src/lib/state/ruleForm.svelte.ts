import { type ApiError, asApiError } from '../api'
import { expiresAt, type Expiry } from '../model/expiry'
import { oneAtATime } from '../model/oneAtATime'
import type { AddRequest, Decision, RuleEntry, Scope, SuggestedRule, TryReply } from '../types.gen'

type Attempt = (rule: string, decision: Decision) => Promise<TryReply>

/** A rule that the user writes, with what it would have matched. */
export class RuleForm {
  decision = $state<Decision>('ask')
  scope = $state<Scope>('local')
  expiry = $state<Expiry>('never')
  date = $state('')
  suggested = $state.raw<readonly SuggestedRule[]>([])
  /** What the rule would have matched; undefined until that is known. */
  tried = $state.raw<TryReply>()
  /** Why the rule cannot be read. */
  problem = $state.raw<ApiError>()
  /** The rule that it replaces. */
  readonly instead?: RuleEntry
  #rule = $state('')
  #attempt: Attempt

  /** It asks attempt which past calls a rule would have matched. */
  constructor(
    attempt: Attempt,
    given: { decision?: Decision; scope?: Scope; instead?: RuleEntry } = {},
  ) {
    this.#attempt = attempt
    this.decision = given.decision ?? 'ask'
    this.scope = given.scope ?? 'local'
    this.instead = given.instead
  }

  get rule(): string {
    return this.#rule
  }
  set rule(text: string) {
    this.#rule = text
    this.tried = this.problem = undefined
    void this.#try()
  }

  choose(decision: Decision): void {
    this.decision = decision
    this.rule = this.#rule
  }

  /** Offers rules, and begins with the first that is not the rule to replace if nothing was written meanwhile. */
  async offer(suggested: Promise<readonly SuggestedRule[]>): Promise<void> {
    try {
      this.suggested = await suggested
      const first = this.suggested.find(({ rule }) => rule !== this.instead?.rule)
      if (first && !this.#rule) this.rule = first.rule
    } catch (thrown) {
      this.problem = asApiError(thrown)
    }
  }

  /** What would be added; undefined while the rule or its end cannot be used. */
  request(now: number): Omit<AddRequest, 'session'> | undefined {
    const expires = expiresAt(this.expiry, this.date, now)
    const rule = this.#rule.trim()
    if (!rule || this.problem || expires === undefined) return undefined
    const { decision, scope } = this
    return { rule, decision, scope, ...(expires > 0 && { expires }) }
  }

  readonly #try = oneAtATime(async () => {
    const [rule, decision] = [this.#rule.trim(), this.decision]
    const isCurrent = () => rule === this.#rule.trim() && decision === this.decision
    if (!rule) return
    try {
      const tried = await this.#attempt(rule, decision)
      if (isCurrent()) this.tried = tried
    } catch (thrown) {
      if (isCurrent()) this.problem = asApiError(thrown)
    }
  })
}
