import { translator } from '../i18n/i18n.svelte'

export const messages = {
  label: 'Find in the conversation',
  count: '{at} of {n}',
  count_more: '{at} of {n}+',
  none: 'Not found',
  taken_back: '{n} rewound',
  searching: 'Searching…',
  next: 'Next match (F3)',
  previous: 'Previous match (Shift+F3)',
  close: 'Close (Esc)',
} as const

export const own = translator('find/messages', messages)
