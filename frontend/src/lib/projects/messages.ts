import { translator } from '../i18n/i18n.svelte'

export const messages = {
  label: 'Projects',
  switch: 'Project: {project}. Switch project',
  find: 'Find a project',
  none: 'No project matches.',
  open: 'Open folder…',
  here: 'this window',
  here_page: 'this tab',
  missing: 'not found',
  waits: { one: '{n} session needs you', other: '{n} sessions need you' },
  forget: 'Remove from the list',
  forget_key: 'Delete removes it from the list',
  opening: 'Opening {path}…',
  back: 'Projects',
  path: 'Folder',
  path_hint: 'A full path, or one from your home folder: ~/src/shop',
  own_page:
    'Opens in another tab, from a server of its own that ends with this one. Over SSH, forward its port as well.',
  submit: 'Open',
  blocked: 'The browser did not allow a new tab.',
  go: 'Open the project',
  copy: 'Copy the address',
} as const

export const own = translator('projects/messages', messages)
