import { translator } from '../i18n/i18n.svelte'

export const messages = {
  title: 'The agent’s tasks',
  progress: '{done} of {of}',
  all_done: 'All tasks are done.',
  show: 'Show the tasks',
  hide: 'Hide the tasks',
  plan: 'The plan that you approved',
  plan_edited: 'The plan that you edited and approved',
  copy: 'Copy the plan',
  no_plan: 'A plan that you approve in this session appears here.',
} as const

export const own = translator('todos/messages', messages)
