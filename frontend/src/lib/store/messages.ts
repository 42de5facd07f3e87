import { translator } from '../i18n/i18n.svelte'

export const messages = {
  offer: {
    one: '{n} session of {folder}, which no longer exists, seems to belong here.',
    other: '{n} sessions of {folder}, which no longer exists, seem to belong here.',
  },
  offer_marker: 'It is the same folder on the disk.',
  offer_root: 'Both repositories begin with the same commit.',
  offer_name: 'Both folders have the same name.',
  bring: 'Move them here',
  leave: 'Leave them there',
  brought: {
    one: '{n} session of {folder} was moved here.',
    other: '{n} sessions of {folder} were moved here.',
  },
  take_back: 'Undo',
  accept: 'I have seen this',
} as const

export const own = translator('store/messages', messages)
