import type { Key } from '../i18n/en'
import { type Command, type Keys, shown } from '../model/keymap'
import { keysOf } from './jumps'

/** A line of the help: a command, whose keys can be changed, or keys that depend on the place. */
export type Shortcut = { label: Key; command: Command } | { label: Key; fixed: readonly string[] }

/** What the help has, in its order, by part. */
export const shortcuts: readonly { part: Key; lines: readonly Shortcut[] }[] = [
  {
    part: 'keys_part.write',
    lines: [
      { label: 'keys_help.composer', command: 'composer' },
      { label: 'keys_help.send', fixed: ['Enter'] },
      { label: 'keys_help.follow_up', fixed: ['Ctrl+Enter'] },
      { label: 'keys_help.newline', fixed: ['Shift+Enter'] },
      { label: 'keys_help.suggestion', fixed: ['Tab'] },
      { label: 'keys_help.recall', fixed: ['↑', '↓'] },
      { label: 'keys_help.history', command: 'history' },
      { label: 'keys_help.enlarge', command: 'enlarge' },
      { label: 'keys_help.mention', fixed: ['@'] },
      { label: 'keys_help.slash', fixed: ['/'] },
      { label: 'keys_help.command', fixed: ['!'] },
      { label: 'keys_help.note', fixed: ['#'] },
      { label: 'keys_help.remember', command: 'remember' },
      { label: 'keys_help.model', command: 'model' },
      { label: 'keys_help.effort', command: 'effort' },
      { label: 'keys_help.modes', command: 'mode' },
      { label: 'keys_help.mode', fixed: ['Shift+Tab'] },
      { label: 'keys_help.stop', fixed: ['Esc'] },
    ],
  },
  {
    part: 'keys_part.read',
    lines: [
      { label: 'keys_help.previous_message', command: 'previous_message' },
      { label: 'keys_help.next_message', command: 'next_message' },
      { label: 'keys_help.actions', fixed: ['C', 'M', 'O', 'E', 'R'] },
      { label: 'keys_help.jump_ends', fixed: [keysOf.start, keysOf.newest] },
      { label: 'keys_help.jump_prompts', fixed: [keysOf.previous_prompt, keysOf.next_prompt] },
      { label: 'keys_help.jump_errors', fixed: [keysOf.next_error, keysOf.previous_error] },
      { label: 'keys_help.change', fixed: ['N', 'P'] },
      { label: 'keys_help.find', command: 'find' },
      { label: 'keys_help.find_next', command: 'find_next' },
      { label: 'keys_help.find_previous', command: 'find_previous' },
      { label: 'keys_help.density', command: 'density' },
    ],
  },
  {
    part: 'keys_part.answer',
    lines: [
      { label: 'keys_help.review', command: 'review' },
      { label: 'keys_help.answer', fixed: ['A', 'S', 'R', 'D', 'F', 'N'] },
      { label: 'keys_help.questions', fixed: ['←', '→'] },
    ],
  },
  {
    part: 'keys_part.go',
    lines: [
      { label: 'keys_help.palette', command: 'palette' },
      { label: 'keys_help.new', command: 'new' },
      { label: 'keys_help.previous_session', command: 'previous_session' },
      { label: 'keys_help.next_session', command: 'next_session' },
      { label: 'keys_help.filter', command: 'filter' },
      { label: 'keys_help.search', command: 'search' },
      { label: 'keys_help.projects', command: 'projects' },
      { label: 'keys_help.panels', fixed: ['Alt+1', '…', 'Alt+0'] },
      { label: 'keys_help.next_region', command: 'next_region' },
      { label: 'keys_help.previous_region', command: 'previous_region' },
    ],
  },
  {
    part: 'keys_part.window',
    lines: [
      { label: 'keys_help.sidebar', command: 'sidebar' },
      { label: 'keys_help.panel', command: 'panel' },
      { label: 'keys_help.terminal', command: 'terminal' },
      { label: 'keys_help.zoom', fixed: ['Ctrl++', 'Ctrl+−', 'Ctrl+0'] },
      { label: 'keys_help.settings', command: 'settings' },
      { label: 'keys_help.help', command: 'help' },
      { label: 'keys_help.sheet', command: 'sheet' },
    ],
  },
]

/** The keys of a line as people read them. */
export const keysShown = (line: Shortcut, keys: Keys): readonly string[] =>
  'fixed' in line ? line.fixed : keys[line.command].map(shown)
