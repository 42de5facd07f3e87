import { type ApiError, asApiError, type Call } from '../api'
import { oneAtATime } from '../model/oneAtATime'
import { identical } from '../model/identical'
import type {
  Answer,
  Approval,
  ApprovalRequest,
  Decision,
  Envelope,
  SuggestedRule,
  TryReply,
} from '../types.gen'

/** What waits for the user in all sessions of the project, the oldest first (OAS-630). */
export class Approvals {
  list = $state.raw<readonly Approval[]>([])
  /** Why the list could not be read. */
  failure = $state.raw<ApiError>()
  /** Why the last answer failed. */
  problem = $state.raw<ApiError>()
  /** How many requests a rule answered since the user's last answer. */
  ruled = $state(0)
  #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  /** Reads the list, never twice at the same time. */
  readonly load = oneAtATime(async () => {
    try {
      this.list = (await this.#call('approvals.list', {})).approvals ?? []
      this.failure = undefined
    } catch (thrown) {
      this.failure = asApiError(thrown)
    }
  })

  /** Takes an envelope of any session. */
  receive({ session, events = [] }: Envelope): void {
    let stale = false
    for (const { kind, data } of events) {
      if (kind === 'approval_request' || kind === 'title') stale = true
      if (kind === 'approval_answer') {
        if (data.rule) this.ruled++
        stale = this.#drop(({ request }) => request.id === data.id) || stale
      }
      if (kind === 'tool_call_end') {
        const ended = (each: Approval) =>
          each.session === session && each.request.call_id === data.call_id
        stale = this.#drop(ended) || stale
      }
    }
    // A read that is under way may still have what was dropped.
    if (stale) void this.load()
  }

  /** The requests of other sessions that are the same as this one. */
  identical(request: ApprovalRequest): readonly Approval[] {
    return identical(this.list, request)
  }

  /** Answers a request, also of a session that is not open; false if that failed. */
  async answer({ session, request }: Approval, answer: Answer): Promise<boolean> {
    this.problem = undefined
    try {
      await this.#call('conversation.answer', { session, approval: request.id, answer })
      return true
    } catch (thrown) {
      this.problem = asApiError(thrown)
      void this.load()
      return false
    }
  }

  /** Rules that would decide about a request, the narrowest first; the last may be several, one a line. */
  async suggest(session: string, approval: string): Promise<readonly SuggestedRule[]> {
    const { rules = [], parts = [] } = await this.#call('permissions.suggest', {
      session,
      approval,
    })
    const [first] = parts
    if (!first || (parts.length === 1 && rules.some(({ rule }) => rule === first.rule)))
      return rules
    return [...rules, { ...first, rule: parts.map(({ rule }) => rule).join('\n') }]
  }

  /** Which past calls rules would have matched, and whether they decide about a request. */
  attemptFor =
    (session: string, approval: string) =>
    (rule: string, decision: Decision): Promise<TryReply> =>
      this.#call('permissions.try', { rule, decision, session, approval })

  #drop(which: (each: Approval) => boolean): boolean {
    const left = this.list.filter((each) => !which(each))
    if (left.length === this.list.length) return false
    this.list = left
    return true
  }
}
