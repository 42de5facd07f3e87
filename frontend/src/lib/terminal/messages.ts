import { translator } from '../i18n/i18n.svelte'

export const messages = {
  terminals: 'Terminals',
  input: 'Terminal {name}',
  new: 'New terminal (Ctrl+Shift+T)',
  close: 'Close this terminal and what runs in it (Ctrl+Shift+W)',
  copy: 'Copy the selection (Ctrl+Shift+C)',
  tell: 'Put the selection into the message (Ctrl+Shift+Enter)',
  find: 'Find in the terminal (Ctrl+Shift+F)',
  find_next: 'Next match (Enter)',
  find_previous: 'Previous match (Shift+Enter)',
  missing: 'Not found',
  leave: 'F6 leaves the terminal',
  ended: 'The shell ended with exit code {code}.',
  over: 'ended',
  empty: 'Your own shell, in the folder of this session. Open one with +.',
  told: 'The selection is in the message.',
  copied: 'Copied.',
} as const

export const own = translator('terminal/messages', messages)
