import { translator } from '../i18n/i18n.svelte'

export const messages = {
  title: 'The agent’s tasks',
  progress: '{done} of {of}',
  all_done: 'All tasks are done.',
  show: 'Show the tasks',
  hide: 'Hide the tasks',
} as const

export const own = translator('todos/messages', messages)
