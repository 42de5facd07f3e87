/** Sessions in the sidebar: how events change them, their marks, and the agents under them. */
import type { Event, FileChange, Forked, KeptAt, Lines, SessionInfo, Usage } from '../types.gen'
import { type Age, age } from './format'
import { skillsAfter } from './skillUse'
import { spent, together } from './spending'
import { keptAt, todoTool } from './todos'

export const newestFirst = (sessions: SessionInfo[]) =>
  sessions.toSorted((a, b) => b.updated_at - a.updated_at)

/** Returns the session after an event; the same object if nothing changed. */
export function fold(session: SessionInfo, event: Event): SessionInfo {
  const changed = change(session, event)
  return event.seq === undefined ? changed : { ...changed, seq: event.seq }
}

/** A process works on the session. */
const working = { state: 'processing', interrupted: false } as const

function change(session: SessionInfo, event: Event): SessionInfo {
  switch (event.kind) {
    case 'user_input': {
      const { messages, prompt } = session
      const { typed, text, skill } = event.data
      const skills = skill && skillsAfter([], skill)
      const begun = { messages: messages + 1, prompt: prompt ?? typed ?? text, skills }
      return { ...session, ...begun, ...working, updated_at: event.at }
    }
    case 'turn_continued':
    case 'local_command_start':
      return { ...session, ...working, updated_at: event.at }
    case 'approval_request':
      return { ...session, state: 'awaiting_input', updated_at: event.at }
    case 'approval_answer':
      return { ...session, ...working }
    case 'assistant_text_end':
    case 'side_request': {
      const usage = sum(session.usage, event.data.usage)
      const messages = session.messages + (event.kind === 'assistant_text_end' ? 1 : 0)
      return { ...session, messages, usage, cost: spent(session.cost, event.data.cost) }
    }
    case 'retrying': {
      const { sent, usage: used, cost } = event.data
      if (!sent && !used) return session
      const usage = used ? sum(session.usage, used) : session.usage
      return { ...session, usage, cost: spent(session.cost, cost) }
    }
    case 'processing_end':
      return {
        ...session,
        state: event.data.next ? 'processing' : 'idle',
        last_end: event.data.reason,
        updated_at: event.at,
      }
    case 'local_command_end':
      return { ...session, state: 'idle', updated_at: event.at }
    case 'tool_call_end': {
      const { details, outcome, is_error: isError, tool } = event.data
      const { changes, skill, kept, worktree } = details ?? {}
      if (worktree !== undefined && !isError) return { ...session, worktree: worktree || undefined }
      if (kept) return { ...session, kept: keptAfter(session.kept, tool, event.seq, kept.line) }
      const skills = skill && !isError ? skillsAfter(session.skills, skill) : session.skills
      if (!changes || outcome === 'denied') {
        return skills === session.skills ? session : { ...session, skills }
      }
      return { ...session, skills, lines: sumOfLines([session.lines, ...changes]) }
    }
    case 'briefing':
      return { ...session, branch: event.data.told?.[branchTold] }
    case 'briefing_update': {
      const branch = event.data.told?.[branchTold]
      return branch === undefined ? session : { ...session, branch }
    }
    case 'title':
      return { ...session, title: event.data.text }
    case 'session_marks':
      return { ...session, marks: event.data }
    case 'session_forked':
      return forked(session, event.data)
    case 'session_imported':
      return { ...session, imported: event.data }
    case 'session_moved':
      return { ...session, folder: event.data.folder }
    case 'conversation_rewound': {
      const { last_end, skills } = session
      const span = { id: event.data.id, from: event.data.to, to: event.seq ?? 0, last_end, skills }
      const rewound = [...(session.rewound ?? []), span]
      return { ...session, rewound, last_end: undefined, skills: undefined, context: 0 }
    }
    case 'conversation_rewind_undone': {
      const span = session.rewound?.find(({ id }) => id === event.data.id)
      if (!span) return session
      const rewound = session.rewound?.filter((other) => other !== span)
      return { ...session, rewound, last_end: span.last_end, skills: span.skills }
    }
    case 'settings':
      return { ...session, settings: event.data.settings }
    default:
      return session
  }
}

/** Where tools keep something, once one of them kept something more; no more of each than in backend.SessionInfo. */
function keptAfter(before: readonly KeptAt[] = [], tool: string, seq = 0, line?: string): KeptAt[] {
  const own = before.filter((at) => at.tool === tool).slice(-15)
  return [...before.filter((at) => at.tool !== tool), ...own, { tool, seq, line }]
}

/** What a session is at, as its tools keep it; empty if none says so. */
export const doingIn = (session: SessionInfo): string => keptAt(session, todoTool)?.line ?? ''

/** A fork belongs to nobody, and what was spent and changed before counts in the other session. */
function forked(session: SessionInfo, { origin, worktree, moved, branch }: Forked): SessionInfo {
  const usage = { input: 0, cache_read: 0, cache_write: 0, output: 0, reasoning: 0, known: true }
  return {
    ...session,
    origin,
    worktree,
    branch: moved ? branch : session.branch,
    usage,
    helper: undefined,
    cost: undefined,
    lines: undefined,
  }
}

/** The name of the git branch among the facts that an event tells the model. */
const branchTold = 'branch'

/** Adds lines up; undefined if there are none. */
function sumOfLines(all: readonly (Lines | FileChange | undefined)[]): Lines | undefined {
  const sum = { added: 0, removed: 0 }
  for (const each of all) {
    sum.added += each?.added ?? 0
    sum.removed += each?.removed ?? 0
  }
  return sum.added + sum.removed > 0 ? sum : undefined
}

/** What a session and its agents changed and cost, and on which branch. */
export const workOf = (session: SessionInfo, agents: readonly SessionInfo[]) => ({
  lines: sumOfLines([session, ...agents].map((each) => each.lines)),
  branch: session.branch,
  cost: together([session, ...agents].map((each) => each.cost)),
})

const sum = (a: Usage, b: Usage): Usage => ({
  input: a.input + b.input,
  cache_read: a.cache_read + b.cache_read,
  cache_write: a.cache_write + b.cache_write,
  output: a.output + b.output,
  reasoning: a.reasoning + b.reasoning,
  known: a.known && b.known,
})

export type Mark = 'running' | 'waiting' | 'rest' | 'failed'

/** The mark that shows a session's state. */
export function markOf(session: SessionInfo): Mark {
  if (session.state === 'processing') return session.interrupted ? 'failed' : 'running'
  if (session.state === 'awaiting_input') return 'waiting'
  return session.last_end === 'failed' || session.last_end === 'crashed' ? 'failed' : 'rest'
}

/** Marks the sessions as waiting in whose calls a server asks the user something, which the log does not say. */
export function withQuestions(
  sessions: readonly SessionInfo[],
  questions: readonly { session: string }[],
): readonly SessionInfo[] {
  if (questions.length === 0) return sessions
  const asked = new Set(questions.map(({ session }) => session))
  return sessions.map((each) =>
    asked.has(each.id) && each.state === 'processing' ? { ...each, state: 'awaiting_input' } : each,
  )
}

/** The most urgent mark of a session and its agents. */
export function familyMark(session: SessionInfo, agents: readonly SessionInfo[]): Mark {
  const marks = [session, ...agents].map(markOf)
  return (['waiting', 'running'] as const).find((mark) => marks.includes(mark)) ?? markOf(session)
}

/** A session with its agents, oldest first. */
export type Family = { session: SessionInfo; agents: readonly SessionInfo[] }

/** Puts each agent under the session that started it. An agent whose parent was deleted is listed on its own. */
export function families(sessions: readonly SessionInfo[]): Family[] {
  const byParent = Object.fromEntries(sessions.map(({ id }) => [id, [] as SessionInfo[]]))
  const heads = sessions.filter((session) => {
    const siblings = session.helper && byParent[session.helper.parent]
    siblings?.push(session)
    return !siblings
  })
  return heads.map((session) => ({ session, agents: oldestFirst(byParent[session.id]!) }))
}

export const oldestFirst = (sessions: readonly SessionInfo[]) =>
  sessions.toSorted((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1))

/** A group of the list: what waits for the user, what runs, what is pinned, and then one for each time. */
export type Group = { name: 'waiting' | 'running' | 'pinned' | Age; families: Family[] }

/** Puts families into groups. Within a group they keep their order. */
export function inbox(all: readonly Family[], now: number): Group[] {
  const groups: Group[] = []
  const order = (['waiting', 'running', 'pinned'] as const).map((name) => ({
    name,
    families: [] as Family[],
  }))
  for (const family of all) {
    const { session, agents } = family
    const mark = familyMark(session, agents)
    const isUrgent = mark === 'waiting' || mark === 'running'
    const urgent = isUrgent ? mark : session.marks?.pinned ? 'pinned' : undefined
    const first = order.find(({ name }) => name === urgent)
    const name = age(session.updated_at, now)
    const group = first ?? groups.find((each) => each.name === name)
    if (group) group.families.push(family)
    else groups.push({ name, families: [family] })
  }
  return [...order.filter((group) => group.families.length > 0), ...groups]
}

/** The session after or before an open one in the list, whose agents belong to it; undefined at its ends. Without an open one, the first. */
export function neighbour(
  groups: readonly Group[],
  current: string | undefined,
  by: 1 | -1,
): string | undefined {
  const all = groups.flatMap(({ families }) => families)
  const at = all.findIndex(({ session, agents }) =>
    [session, ...agents].some(({ id }) => id === current),
  )
  return (at < 0 ? all[0] : all[at + by])?.session.id
}
