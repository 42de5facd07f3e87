/** The state of an agent, and the tool calls that concern agents. */
import type { Entry, ToolEntry } from './entries'
import { argumentsOf } from './json'
import type { SessionInfo } from '../types.gen'

export type AgentState = 'working' | 'waiting' | 'done' | 'failed' | 'stopped' | 'starting'

/** An agent's state in one word (LOOP-49). An agent that reached a limit counts as stopped. */
export function agentState({ state, last_end, interrupted }: SessionInfo): AgentState {
  if (state === 'processing') return interrupted ? 'failed' : 'working'
  if (state === 'awaiting_input') return 'waiting'
  switch (last_end) {
    case undefined:
      return 'starting'
    case 'done':
      return 'done'
    case 'failed':
    case 'crashed':
      return 'failed'
    default:
      return 'stopped'
  }
}

/** Whether an agent works, or waits for an answer. */
export const isAtWork = ({ state, interrupted }: SessionInfo): boolean =>
  (state === 'processing' && !interrupted) || state === 'awaiting_input'

/** What an agent is called: its own name and the name of its definition; empty for a general one without a name. */
export function agentName({ helper }: SessionInfo): string {
  const kind = helper?.type === 'general-purpose' ? '' : helper?.type
  return [helper?.name, kind].filter(Boolean).join(' · ')
}

/** The call that runs, or waits, in a conversation; undefined while the model answers. */
export function stepOf(entries: readonly Entry[]): ToolEntry | undefined {
  const last = entries.findLast((entry) => entry.type === 'tool' || entry.type === 'answer')
  if (last?.type !== 'tool') return undefined
  return ['drafting', 'running', 'waiting'].includes(last.status) ? last : undefined
}

/** The tools that are about agents. Older logs have SpawnAgent. */
export const agentTools: ReadonlySet<string> = new Set([
  'Agent',
  'SpawnAgent',
  'SendInput',
  'Wait',
  'CloseAgent',
])

/** Whether calls of a tool start agents. */
export const startsAgent = (tool: string): boolean => tool === 'Agent' || tool === 'SpawnAgent'

/** The agent's session that a call starts, messages, awaits or closes; undefined for other calls. */
export function agentOf(call: ToolEntry): string | undefined {
  if (!agentTools.has(call.tool)) return undefined
  const named = argumentsOf(call.input).agent_id
  return call.details?.agent?.session ?? (typeof named === 'string' ? named : undefined)
}

/** An agent's report as Wait and CloseAgent return it; undefined if the output was cut or is not a report. */
export function reportOf(call: ToolEntry): { output: string; turns: number } | undefined {
  const { output, turns_used: turns } = argumentsOf(call.output)
  return typeof output === 'string' && typeof turns === 'number' ? { output, turns } : undefined
}

/** Puts agents behind those that started them, each level in its order. */
export function nested(agents: readonly SessionInfo[]): SessionInfo[] {
  const known = new Set(agents.map(({ id }) => id))
  const below = (by: string): SessionInfo[] =>
    agents
      .filter(({ id, helper }) => helper?.by === by && id !== by)
      .flatMap((agent) => [agent, ...below(agent.id)])
  return agents
    .filter(({ helper }) => !helper?.by || !known.has(helper.by))
    .flatMap((agent) => [agent, ...below(agent.id)])
}
