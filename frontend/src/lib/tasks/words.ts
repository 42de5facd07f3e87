/** Describes the state of a task in a few words. */
import { runsWords } from '../i18n/i18n.svelte'
import type { Task } from '../model/tasks'
import { own } from './messages'

export function stateWords(task: Task): string {
  if (task.state === 'exited') return own('exited', { code: String(task.exit_code ?? 0) })
  return own(task.state)
}

/** How long the task has been running, or ran. */
export const lasted = (task: Task, now: number): string =>
  runsWords((task.ended_at ?? now) - task.started_at)
