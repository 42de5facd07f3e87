import { translator } from '../i18n/i18n.svelte'

export const messages = {
  question: { one: 'The agent has a question', other: 'The agent has {n} questions' },
  plan: 'The agent’s plan',
  plan_first: 'The agent wants to plan first',
  own_words: 'In your own words',
  preview: 'Preview of “{label}”',
  one_of: 'Choose one',
  several_of: 'Choose any',
  skip: 'Do not answer',
  send: 'Send answers',
  open: { one: '{n} question is not answered', other: '{n} questions are not answered' },
  read: 'Read',
  edit: 'Edit',
  plan_text: 'The plan',
  edited: 'Edited',
  comment: 'Comment on line {line}',
  comment_field: 'Your comment on line {line}',
  remarks: 'What should change?',
  send_back: 'Send back',
  go_on: 'Continue in',
  approve: 'Approve',
  approve_hint: 'The agent carries out the plan as it is shown here.',
  back_needs: 'Say what should change: comment on a line, or write it below.',
  first_why: 'It would explore without changing anything, then show you a plan.',
  first_yes: 'Plan first',
  first_no: 'Continue without a plan',
} as const

export const own = translator('asked/messages', messages)
