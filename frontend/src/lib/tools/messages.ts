import { translator } from '../i18n/i18n.svelte'

export const messages = {
  structured: 'Data',
  fault: 'The data does not match the tool’s own schema: {fault}',
  resources: 'Resources',
  link: 'linked',
  sound: 'Sound {n}',
  no_sound: 'It cannot be played here.',
  unshown: 'The agent was not shown: {kinds}.',
  no_arguments: 'No arguments.',
  skill_begun: 'The agent began the skill {skill}',
  skill_ended: 'The agent ended the skill {skill}',
  skill_all: 'any tool',
  skill_only: 'only {tools}',
  skill_approves: 'without asking: {tools}',
  skill_none: 'no tools',
  skill_but: 'all tools but {tools}',
  skill_model: '{model} answers',
  more_tools: { one: '{n} more', other: '{n} more' },
  todo_pending: 'To do:',
  todo_in_progress: 'In progress:',
  todo_completed: 'Done:',
  todo_cancelled: 'Cancelled:',
  no_answer: 'no answer',
  not_answered: 'not answered',
  no_plan: 'without a plan',
  sent_back: 'sent back',
  plan_edited: 'You edited this plan before you approved it.',
} as const

export const own = translator('tools/messages', messages)
