/** What a question shows of a call, and how its letters are guarded. */
import type { Answer, ApprovalRequest, Effect, Risk } from '../types.gen'
import { argumentsOf } from './json'
import { serverCall } from './serverCall'

/** What the call is about, for the heading. */
type Asking = 'command' | 'typing' | 'changes' | 'other'

/** A question as the page shows it. */
export type Facts = {
  asking: Asking
  risk: Risk
  effects: readonly Effect[]
  /** The reason says something that the effects do not. */
  reason: boolean
  command?: string
  /** Where the command runs, if not in the project's folder. */
  dir?: string
  /** The running command that is typed to. */
  task?: string
  /** When the command is stopped. */
  timeoutMs?: number
  /** The command keeps running while the agent goes on. */
  background: boolean
  terminal: boolean
  /** The other arguments as JSON, or an input that is not JSON; empty if nothing is left. */
  rest: string
}

/** Reasons that only repeat an effect. */
const repeated: readonly string[] = [
  'controls',
  'secret',
  'outside',
  'command',
  'command_reads',
  'changes',
  'changes_two',
  'changes_more',
  'reads',
  'own',
  'unforeseen',
  'rule_asks',
]

export function factsOf(request: ApprovalRequest): Facts {
  const { access, outlook, reason_code: code } = request
  const { command, dir, task } = access
  const facts: Facts = {
    asking: access.writes?.length ? 'changes' : 'other',
    // Older logs do not say what a call would do.
    risk: outlook?.risk ?? 'elevated',
    effects: outlook?.effects ?? [],
    reason: !outlook || !code || !repeated.includes(code),
    background: false,
    terminal: false,
    rest: '',
  }
  if (request.changes) return { ...facts, asking: 'changes' }
  const all = argumentsOf(request.input)
  if (Object.keys(all).length === 0) return { ...facts, rest: request.input }
  if (command === undefined) return { ...facts, rest: jsonOf(all) }
  if (task !== undefined) {
    if (all.chars === command) delete all.chars
    if (all.id === task) delete all.id
    return { ...facts, asking: 'typing', command, task, rest: jsonOf(all) }
  }
  return { ...facts, asking: 'command', command, dir, ...limits(all, command, dir) }
}

/** Takes from the arguments of a command what is shown in words. */
function limits(all: Record<string, unknown>, command: string, dir: string | undefined) {
  const take = (name: string) => {
    const value = all[name]
    delete all[name]
    return value
  }
  if (all.command === command) delete all.command
  if (dir !== undefined || all.workdir === '' || all.workdir === '.') delete all.workdir
  delete all.description // it is the request's claim
  delete all.max_output_tokens // it only cuts what the agent is shown
  const timeout = typeof all.timeout === 'number' ? (take('timeout') as number) : 0
  if (typeof all.yield_time_ms === 'number') delete all.yield_time_ms
  const background = all.run_in_background === true
  if (typeof all.run_in_background === 'boolean') delete all.run_in_background
  if (typeof all.input === 'boolean') delete all.input
  const terminal = all.tty === true
  if (typeof all.tty === 'boolean') delete all.tty
  if (typeof all.unconfined === 'boolean') delete all.unconfined // its reason says so
  return { timeoutMs: timeout > 0 ? timeout : undefined, background, terminal, rest: jsonOf(all) }
}

/** What “Allow for session” covers: the calls that Policy.Grant in agent/permission takes for equal. */
export type Coverage = {
  by: 'command' | 'typing' | 'files' | 'hosts' | 'web' | 'server' | 'arguments'
  /** The names of the files, or of the hosts. */
  files: readonly string[]
}

export function coverageOf({ tool, access, origin }: ApprovalRequest): Coverage {
  const { command, task, writes = [], reads = [], hosts = [], web } = access
  if (hosts.length > 0) return { by: 'hosts', files: hosts }
  if (web) return { by: 'web', files: [web] }
  const paths = writes.length > 0 ? writes : reads
  const files = paths.map((path) => path.slice(path.search(/[^\\/]*$/)))
  if (command) return { by: task ? 'typing' : 'command', files: [] }
  if (files.length > 0) return { by: 'files', files }
  return { by: origin || serverCall(tool) ? 'server' : 'arguments', files: [] }
}

/** What an answer to a request can be remembered as, beside the answer for this time. */
export type Remembered = {
  /** For the session; absent if a person is asked each time. */
  session?: Answer
  /** For the project and this user; absent unless the request is about hosts. */
  project?: Answer
  /** By a rule that is shown first. */
  rule: boolean
}

export function rememberedBy({ access, each_time: isEach, final }: ApprovalRequest): Remembered {
  if (isEach) return { rule: false }
  const { hosts = [] } = access
  if (hosts.length === 0)
    return { session: { decision: 'allow', scope: 'session' }, rule: final !== true }
  const rule = hosts.map((host) => `Network(domain:${host})`).join('\n')
  return {
    session: { decision: 'allow', scope: 'session', rule },
    project: { decision: 'allow', scope: 'local', rule },
    rule: true,
  }
}

/** Whether the mode that accepts edits would not have asked about a call that changes files of the project. */
export const isPlainEdit = ({ mode, by, access, reason_code: code, final }: ApprovalRequest) =>
  mode === 'default' &&
  by === 'mode' &&
  !final &&
  !access.command &&
  ['changes', 'changes_two', 'changes_more'].includes(code ?? '')

const jsonOf = (all: Record<string, unknown>) =>
  Object.keys(all).length > 0 ? JSON.stringify(all, null, 2) : ''

/**
 * Puts questions in the order in which they came. Those that are known keep their place, so that
 * nothing moves under a hand.
 */
export function inOrderOfArrival(known: readonly string[], now: readonly string[]): string[] {
  return [...known.filter((id) => now.includes(id)), ...now.filter((id) => !known.includes(id))]
}

/** The question to show when the shown one is gone: the one that took its place, or the last. */
export function following(before: readonly string[], shown: string, now: readonly string[]) {
  if (now.includes(shown)) return shown
  const later = before.slice(before.indexOf(shown) + 1).find((id) => now.includes(id))
  return later ?? now[0]
}
