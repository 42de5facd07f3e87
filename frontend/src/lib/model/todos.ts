/** The list of tasks that a model keeps (agent/todo has the same in Go). */
import type { Entry } from './entries'
import type { SessionInfo } from '../types.gen'

export const todoTool = 'TodoWrite'
export const planTool = 'ExitPlanMode'

const statuses = ['pending', 'in_progress', 'completed', 'cancelled'] as const
export type Todo = {
  id: string
  text: string
  /** What is being done, while it is in progress. */
  active: string
  status: (typeof statuses)[number]
}

/** The tasks in what a call keeps; none if it cannot be read. */
export function todosOf(state: unknown): Todo[] {
  const { tasks } = (state ?? {}) as { tasks?: unknown }
  if (!Array.isArray(tasks)) return []
  return tasks.map((it: Record<string, unknown>, at) => ({
    id: String(it.id ?? at),
    text: String(it.content ?? ''),
    active: String(it.active ?? ''),
    status: statuses.find((status) => status === it.status) ?? 'pending',
  }))
}

/** What the newest call of a tool in these entries keeps, with its event; undefined if none is among them. */
export function newestKept(entries: readonly Entry[], tool: string) {
  for (let at = entries.length - 1; at >= 0; at--) {
    const entry = entries[at]!
    const kept = entry.type === 'tool' && entry.tool === tool && entry.details?.kept
    if (kept) return { seq: entry.seq ?? 0, state: kept.state }
  }
  return undefined
}

/** Where in the log a session keeps something of a tool: the newest place that was not taken back. */
export const keptAt = ({ kept = [], rewound = [] }: SessionInfo, tool: string) =>
  kept.findLast(
    (at) => at.tool === tool && !rewound.some(({ from, to }) => from < at.seq && at.seq < to),
  )

/** How many tasks are done, of those that were not cancelled. */
export function progressOf(todos: readonly Todo[]): { done: number; of: number } {
  const all = todos.filter(({ status }) => status !== 'cancelled')
  return { done: all.filter(({ status }) => status === 'completed').length, of: all.length }
}

/** The task that is worked on, or the next one; undefined if none is left. */
export const currentTodo = (todos: readonly Todo[]): Todo | undefined =>
  todos.find(({ status }) => status === 'in_progress') ??
  todos.find(({ status }) => status === 'pending')

/** What a task says. */
export const todoText = ({ status, active, text }: Todo): string =>
  status === 'in_progress' && active ? active : text
