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
  work_title: 'All projects',
  work_needs: 'Needs you',
  work_working: 'Working',
  work_failed: 'Failed this week',
  work_done: 'Done today',
  work_none: 'Nothing works, waits or failed in any project.',
  work_agent: 'Agent: {name}',
  work_stop: 'Stop',
  work_stop_of: 'Stop {name}',
  work_more: { one: '{n} more is not listed.', other: '{n} more are not listed.' },
  work_blocked: 'Open the project, which the browser did not allow by itself',
} as const

export const own = translator('projects/messages', messages)
