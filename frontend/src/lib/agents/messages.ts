import { translator } from '../i18n/i18n.svelte'

export const messages = {
  empty:
    'Agents that this session starts are listed here, with what they do, take and cost. You can stop each of them, and give it a message.',
  tree: 'Agents of this session',
  root: 'This session',
  limits: 'At most four work at a time, and all of them share the session’s budget and rules.',
  working: '{n} working',
  together: '{spent} together',
  step: 'Now: {step}',
  thinking: 'the model answers',
  general: 'general',
  stop: 'Stop',
  stop_named: 'Stop agent: {title}',
  message: 'Message',
  message_named: 'Write to agent: {title}',
  message_label: 'Message to agent: {title}',
  message_hint_working: 'It reads the message after the tools that are running.',
  message_hint_rest: 'The message is its next task.',
  send: 'Send',
  sent: 'The message to {title} is on its way.',
} as const

export const own = translator('agents/messages', messages)
