import type { Key } from '../i18n/en'
import { keysOf } from './jumps'
import { isComposing } from './keys'

/** All shortcuts in the order of the help. Browsers reserve Ctrl+N, so Alt+N does the same. */
export const shortcuts: readonly {
  label: Key
  keys: readonly string[]
  /** What the palette does for it; undefined for keys that depend on the place. */
  command?: Command
}[] = [
  { label: 'keys_help.send', keys: ['Enter'] },
  { label: 'keys_help.follow_up', keys: ['Ctrl+Enter'] },
  { label: 'keys_help.newline', keys: ['Shift+Enter'] },
  { label: 'keys_help.suggestion', keys: ['Tab'] },
  { label: 'keys_help.command', keys: ['!'] },
  { label: 'keys_help.slash', keys: ['/'] },
  { label: 'keys_help.stop', keys: ['Esc'] },
  { label: 'keys_help.mode', keys: ['Shift+Tab'] },
  { label: 'keys_help.model', keys: ['Alt+L'], command: 'model' },
  { label: 'keys_help.effort', keys: ['Alt+T'], command: 'effort' },
  { label: 'keys_help.review', keys: ['Alt+A'], command: 'review' },
  { label: 'keys_help.answer', keys: ['A', 'S', 'R', 'D', 'F', 'N'] },
  { label: 'keys_help.questions', keys: ['←', '→'] },
  { label: 'keys_help.composer', keys: ['Alt+M'], command: 'composer' },
  { label: 'keys_help.messages', keys: ['Alt+↑', 'Alt+↓'] },
  { label: 'keys_help.actions', keys: ['C', 'M', 'O', 'E', 'R'] },
  { label: 'keys_help.change', keys: ['N', 'P'] },
  { label: 'keys_help.region', keys: ['F6', 'Shift+F6'] },
  { label: 'keys_help.new', keys: ['Ctrl+N', 'Alt+N'], command: 'new' },
  { label: 'keys_help.sidebar', keys: ['Ctrl+B'], command: 'sidebar' },
  { label: 'keys_help.panel', keys: ['Ctrl+.'], command: 'panel' },
  { label: 'keys_help.terminal', keys: ['Ctrl+`'], command: 'terminal' },
  { label: 'keys_help.panels', keys: ['Alt+1', '…', 'Alt+0'] },
  { label: 'keys_help.sessions', keys: ['Alt+Shift+↑', 'Alt+Shift+↓'] },
  { label: 'keys_help.palette', keys: ['Ctrl+K'], command: 'palette' },
  { label: 'keys_help.filter', keys: ['Alt+S'], command: 'filter' },
  { label: 'keys_help.projects', keys: ['Alt+P'], command: 'projects' },
  { label: 'keys_help.search', keys: ['Ctrl+Shift+F'], command: 'search' },
  { label: 'keys_help.find', keys: ['Ctrl+F', 'F3', 'Shift+F3'], command: 'find' },
  { label: 'keys_help.jump_ends', keys: [keysOf.start, keysOf.newest] },
  { label: 'keys_help.jump_prompts', keys: [keysOf.previous_prompt, keysOf.next_prompt] },
  { label: 'keys_help.jump_errors', keys: [keysOf.next_error, keysOf.previous_error] },
  { label: 'keys_help.zoom', keys: ['Ctrl++', 'Ctrl+−', 'Ctrl+0'] },
  { label: 'keys_help.density', keys: ['Ctrl+O'], command: 'density' },
  { label: 'keys_help.settings', keys: ['Ctrl+,'], command: 'settings' },
  { label: 'keys_help.help', keys: ['Ctrl+/'], command: 'help' },
]

export type Command =
  | 'new'
  | 'sidebar'
  | 'panel'
  | 'palette'
  | 'terminal'
  | 'filter'
  | 'projects'
  | 'search'
  | 'find'
  | 'find_next'
  | 'find_previous'
  | 'density'
  | 'settings'
  | 'help'
  | 'model'
  | 'effort'
  | 'next_session'
  | 'previous_session'
  | 'review'
  | 'composer'
  | 'next_message'
  | 'previous_message'
  | 'next_region'
  | 'previous_region'

/** The command of a key press that works in the whole window. */
export function commandOf(event: KeyboardEvent): Command | undefined {
  if (isComposing(event)) return undefined
  const key = event.key.toLowerCase()
  if ((event.ctrlKey || event.metaKey) && event.shiftKey && !event.altKey) {
    return key === 'f' ? 'search' : undefined
  }
  if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey) {
    if (event.code === 'Backquote') return 'terminal'
    const commands: Record<string, Command> = {
      n: 'new',
      b: 'sidebar',
      '.': 'panel',
      k: 'palette',
      f: 'find',
      o: 'density',
      ',': 'settings',
      '/': 'help',
    }
    return commands[key]
  }
  if (event.altKey && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    const commands: Record<string, Command> = {
      a: 'review',
      l: 'model',
      t: 'effort',
      n: 'new',
      m: 'composer',
      p: 'projects',
      s: 'filter',
      arrowup: 'previous_message',
      arrowdown: 'next_message',
    }
    return commands[key]
  }
  if (event.altKey && event.shiftKey && !event.ctrlKey && !event.metaKey) {
    if (event.key === 'ArrowUp') return 'previous_session'
    return event.key === 'ArrowDown' ? 'next_session' : undefined
  }
  if (event.key === 'F6' && !event.altKey && !event.ctrlKey && !event.metaKey) {
    return event.shiftKey ? 'previous_region' : 'next_region'
  }
  if (event.key === 'F3' && !event.altKey && !event.ctrlKey && !event.metaKey) {
    return event.shiftKey ? 'find_previous' : 'find_next'
  }
  return undefined
}

/** The place of the panel that a key press opens, from 0; undefined for other keys. With Alt, a Mac types other signs than digits. */
export function panelAt(event: KeyboardEvent): number | undefined {
  if (!event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return undefined
  const [, digit] = /^Digit(\d)$/.exec(event.code) ?? []
  return digit === undefined ? undefined : (Number(digit) + 9) % 10
}

/** The keys that open the panel at a place, from 0. */
export const panelKeys = (at: number): string => `Alt+${(at + 1) % 10}`
