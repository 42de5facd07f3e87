import { dollars } from '../model/format'
import { workOf } from '../model/sessions'
import type { SessionInfo } from '../types.gen'
import { own } from './messages'

/** Says what a session and its agents changed, on which branch, and what they cost; empty if nothing is known. */
export function workText(session: SessionInfo, agents: readonly SessionInfo[]): string {
  const { lines, branch, cost } = workOf(session, agents)
  const amount = cost && dollars(cost.usd)
  return [
    lines && own('lines', lines),
    branch && own('branch', { branch }),
    cost?.usd && (cost.unknown ? own('at_least', { amount: amount! }) : amount),
  ]
    .filter(Boolean)
    .join(' · ')
}
