import { createContext } from 'svelte'
import type { Tasks } from '../state/tasks.svelte'
import type { Task } from '../model/tasks'

/** What the card of a call with a background task needs from the window. */
export type TasksHost = {
  tasks: Tasks
  /** Shows the task in its panel. */
  show: (task: Task) => void
}

export const [tasksHost, provideTasksHost] = createContext<TasksHost>()
