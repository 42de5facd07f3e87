import { translator } from '../i18n/i18n.svelte'

export const messages = {
  filter: 'Filter files',
  list: 'Files of the project',
  empty: 'The project has no files.',
  none: 'No path contains this text.',
  more: 'Not all files are listed, because there are too many.',
  more_here: {
    one: '{n} more is not shown. Filter to find it.',
    other: '{n} more are not shown. Filter to find them.',
  },
  back: 'All files',
  edit: 'Open {path} in your editor',
  blame: 'Who wrote this',
  blame_hint: 'Who wrote this. Press W on a line for details.',
  empty_file: 'The file is empty.',
  lines_more: 'Show more lines',
  mention: 'Mention {path} in the message',
  mention_hint: 'Mention it in the message',
  ask_lines: 'Ask about lines {lines}',
  read: 'Read as a document',
  pdf: 'A PDF is not shown here. Your editor or another program can open it.',
  by_session: 'changed by this session',
  inside: 'has changes',
  state_added: 'added',
  state_modified: 'modified',
  state_deleted: 'deleted',
  state_renamed: 'renamed',
  state_untracked: 'new, not tracked by git',
  state_conflicted: 'in conflict',
  state_link: 'a link',
  state_submodule: 'a submodule',
} as const

export const own = translator('files/messages', messages)
