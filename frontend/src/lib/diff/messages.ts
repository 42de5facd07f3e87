import { translator } from '../i18n/i18n.svelte'

export const messages = {
  label: 'Changes in {path}',
  file: 'Lines of {path}',
  tools: 'How diffs are shown',
  split: 'Show two columns',
  wrap: 'Wrap long lines',
  hide_spaces: 'Hide whitespace changes',
  add: 'added line {n}',
  del: 'removed line {n}',
  same: 'line {n}',
  comment: 'Comment on this line',
  comment_on: 'Comment on {line}',
  unended: 'no newline at the end',
  crlf: 'Every line ends in CR LF.',
  crlf_line: 'This line ends in CR LF.',
  whole_line: 'Show all {n} characters',
  unchanged: { one: '{n} unchanged line', other: '{n} unchanged lines' },
  expand: { one: 'Show {n} unchanged line', other: 'Show {n} unchanged lines' },
  expand_down: 'Show the next {n} lines',
  expand_up: 'Show the {n} lines before',
  only_spaces: {
    one: '{n} more change, only in spaces, is hidden.',
    other: '{n} more changes, only in spaces, are hidden.',
  },
  cut: { one: '{n} more line is not shown.', other: '{n} more lines are not shown.' },
} as const

export const own = translator('diff/messages', messages)
