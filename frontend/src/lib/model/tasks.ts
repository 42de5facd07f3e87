/** Commands that were left running, as the page keeps them. */
import type { TaskInfo, TaskState } from '../types.gen'

/** A command that was left running. Those of sessions that ended are kept while the page lives. */
export type Task = Omit<TaskInfo, 'state'> & { key: string; state: TaskState | 'session_ended' }

export const isRunning = ({ state }: Task): boolean => state === 'running'

/** What runs comes before what ended, each by when it did so. */
export const rank = (task: Task) =>
  isRunning(task) ? Number.MAX_SAFE_INTEGER / 2 + task.started_at : (task.ended_at ?? 0)

export const taskOf = (info: TaskInfo): Task => ({
  ...info,
  key: `${info.session}/${info.started_at}/${info.id}`,
})

/** Ended in a way that somebody may have to look at. */
export const isBad = ({ state, exit_code: code = 0 }: Task): boolean =>
  state === 'timed_out' || (state === 'exited' && code !== 0)
