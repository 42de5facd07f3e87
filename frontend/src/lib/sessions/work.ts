import { dollars } from '../model/format'
import { workOf } from '../model/sessions'
import type { Program, SessionInfo } from '../types.gen'
import { own } from './messages'

const programs: Record<Program, string> = {
  atelier: 'Atelier',
  claude_code: 'Claude Code',
  codex: 'Codex',
  open_agent_sdk: 'Open Agent SDK',
  comate: 'Comate',
  gemini_cli: 'Gemini CLI',
  opencode: 'opencode',
}

/** Says what a session and its agents changed, on which branch, and what they cost; empty if nothing is known. */
export function workText(session: SessionInfo, agents: readonly SessionInfo[]): string {
  const { lines, branch, cost } = workOf(session, agents)
  const amount = cost && dollars(cost.usd)
  return [
    session.imported && own('imported', { program: programs[session.imported.program] }),
    lines && own('lines', lines),
    branch && own('branch', { branch }),
    session.worktree && own('worktree', { path: session.worktree }),
    cost?.usd && (cost.unknown ? own('at_least', { amount: amount! }) : amount),
  ]
    .filter(Boolean)
    .join(' · ')
}
