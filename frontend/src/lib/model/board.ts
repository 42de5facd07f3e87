/** The board of tasks and the messages that a session and its agents share. */
import type { AgentMessage, BoardTask, Envelope } from '../types.gen'

export const statuses = ['pending', 'in_progress', 'completed', 'failed', 'cancelled'] as const
export type TaskStatus = (typeof statuses)[number]

/** A task's status; one that this version does not know counts as waiting. */
export const statusOf = ({ status }: BoardTask): TaskStatus =>
  statuses.find((known) => known === status) ?? 'pending'

/** Whether a task's status stays. */
export const isFinal = (task: BoardTask): boolean =>
  ['completed', 'failed', 'cancelled'].includes(task.status)

/** The tasks as they are shown: those at work, those that wait, and those that have ended. */
export function ordered(tasks: readonly BoardTask[]): BoardTask[] {
  const rank = (task: BoardTask) => (task.status === 'in_progress' ? 0 : isFinal(task) ? 2 : 1)
  return [...tasks].sort((a, b) => rank(a) - rank(b))
}

const changing = new Set([
  'TaskCreate',
  'TaskUpdate',
  'TaskStop',
  'TeamCreate',
  'TeamDelete',
  'SendMessage',
  'Agent',
])

/** Whether something in an envelope changes what agents share. */
export const changesTogether = ({ events = [] }: Envelope): boolean =>
  events.some((event) => {
    switch (event.kind) {
      case 'tool_call_end':
        return changing.has(event.data.tool)
      case 'user_input':
      case 'steering_injected':
        return Boolean(event.data.from)
      case 'queue_change':
        return true
    }
    return false
  })

/** The name of whoever leads: the session of the user itself. */
export const self = 'self'

/** What kind of message it is, if not an ordinary text. */
const kinds = ['shutdown_request', 'shutdown_response', 'plan_approval_response', 'idle'] as const
export const kindOf = ({ type }: AgentMessage) => kinds.find((kind) => kind === type)
