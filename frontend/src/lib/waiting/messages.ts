import { translator } from '../i18n/i18n.svelte'

export const messages = {
  empty: 'Nothing waits for you. Questions of all sessions and their agents come together here.',
  agent: '{agent}, an agent of “{title}”',
  of_servers: 'Questions of servers',
  open: 'Open the session',
  since: 'asked {time}',
  ruled: {
    one: 'Your rule answered {n} other request.',
    other: 'Your rule answered {n} other requests.',
  },
} as const

export const own = translator('waiting/messages', messages)
