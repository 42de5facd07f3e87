/** Background tasks, as the page keeps them. */
import type { TaskInfo, TaskState } from '../types.gen'

/** A command that runs in the background. Tasks of ended sessions are kept until the page is closed. */
export type Task = Omit<TaskInfo, 'state'> & { key: string; state: TaskState | 'session_ended' }

export const isRunning = ({ state }: Task): boolean => state === 'running'

/** Orders tasks: running tasks by their start come above ended tasks by their end. */
export const rank = (task: Task) =>
  isRunning(task) ? Number.MAX_SAFE_INTEGER / 2 + task.started_at : (task.ended_at ?? 0)

export const taskOf = (info: TaskInfo): Task => ({
  ...info,
  key: `${info.session}/${info.started_at}/${info.id}`,
})

/** Whether the task ended in a way that the user may want to look at. */
export const isBad = ({ state, exit_code: code = 0 }: Task): boolean =>
  state === 'timed_out' || (state === 'exited' && code !== 0)
