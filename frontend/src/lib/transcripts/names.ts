import type { Program } from '../types.gen'

/** What programs are called. */
export const names: Record<Program, string> = {
  atelier: 'Atelier',
  claude_code: 'Claude Code',
  codex: 'Codex',
  open_agent_sdk: 'Open Agent SDK',
  comate: 'Comate',
  gemini_cli: 'Gemini CLI',
  opencode: 'opencode',
}
