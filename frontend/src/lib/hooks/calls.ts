import { translator } from '../i18n/i18n.svelte'

/** What the conversation says about hooks. The panel's messages are loaded with it. */
export const messages = {
  running: 'The hook {hook} runs',
  denied: '{hook} denied it',
  changed: '{hook} changed it',
  failed: '{hook} failed',
  log: 'Show it in the log of hooks',
  denied_by: 'Denied by the hook {hook}.',
  ended: 'The hook {hook} ended the turn: {why}',
  asked_why: 'The hook {hook} wanted you to be asked: {why}',
  allowed: 'Allowed by the hook {hook}.',
  changed_to: 'The hook {hook} changed the input to:',
  failed_why: 'The hook {hook} failed: {why}',
  told: 'The hook {hook} told the model:',
  said_to: 'The hook {hook} says:',
} as const

export const own = translator('hooks/calls', messages)
