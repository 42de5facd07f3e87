/** The keys of the window's commands: the usual ones, those of presets, and those that a person chose. */

export const commands = [
  'composer',
  'history',
  'enlarge',
  'remember',
  'model',
  'effort',
  'mode',
  'review',
  'previous_message',
  'next_message',
  'previous_region',
  'next_region',
  'new',
  'previous_session',
  'next_session',
  'filter',
  'projects',
  'palette',
  'search',
  'find',
  'find_next',
  'find_previous',
  'sidebar',
  'panel',
  'terminal',
  'density',
  'settings',
  'help',
  'sheet',
] as const

export type Command = (typeof commands)[number]
export type Keys = Readonly<Record<Command, readonly string[]>>

/** The usual keys. Browsers reserve Ctrl+N, so Alt+N does the same. */
const usual: Keys = {
  composer: ['Alt+M'],
  history: ['Ctrl+R'],
  enlarge: ['Alt+E'],
  remember: [],
  model: ['Alt+L'],
  effort: ['Alt+T'],
  mode: ['Alt+O'],
  review: ['Alt+A'],
  previous_message: ['Alt+Up'],
  next_message: ['Alt+Down'],
  previous_region: ['Shift+F6'],
  next_region: ['F6'],
  new: ['Ctrl+N', 'Alt+N'],
  previous_session: ['Alt+Shift+Up'],
  next_session: ['Alt+Shift+Down'],
  filter: ['Alt+S'],
  projects: ['Alt+P'],
  palette: ['Ctrl+K'],
  search: ['Ctrl+Shift+F'],
  find: ['Ctrl+F'],
  find_next: ['F3'],
  find_previous: ['Shift+F3'],
  sidebar: ['Ctrl+B'],
  panel: ['Ctrl+.'],
  terminal: ['Ctrl+`'],
  density: ['Ctrl+O'],
  settings: ['Ctrl+,'],
  help: ['Ctrl+/'],
  sheet: ['?'],
}

/** What presets have otherwise. */
export const presets = {
  '': {},
  code: {
    palette: ['Ctrl+Shift+P', 'Ctrl+P', 'F1'],
    panel: ['Ctrl+J'],
    model: ['Ctrl+Shift+I', 'Alt+L'],
    effort: ['Ctrl+Shift+E', 'Alt+T'],
    mode: ['Ctrl+Shift+M', 'Alt+O'],
    previous_session: ['Ctrl+PageUp', 'Alt+Shift+Up'],
    next_session: ['Ctrl+PageDown', 'Alt+Shift+Down'],
  },
  emacs: {
    palette: ['Alt+X', 'Ctrl+K'],
    find: ['Ctrl+S'],
    previous_message: ['Alt+Up', 'Ctrl+Alt+P'],
    next_message: ['Alt+Down', 'Ctrl+Alt+N'],
    filter: ['Alt+S', 'Ctrl+Alt+B'],
    search: ['Ctrl+Shift+F', 'Ctrl+Alt+S'],
  },
} satisfies Record<string, Partial<Keys>>

/** What a person chose, as it is in the file. */
export type Choice = { preset?: string; keys?: Readonly<Record<string, readonly string[] | null>> }

/** Keys that belong to the field, to messages or to the browser, so that a command cannot have them. */
const reserved = new Set(['Enter', 'Tab', 'Shift+Tab', 'Escape', 'Space', 'Backspace', 'Delete'])
const modifiers = ['Ctrl', 'Alt', 'Shift'] as const
const names: Readonly<Record<string, string>> = {
  arrowup: 'Up',
  arrowdown: 'Down',
  arrowleft: 'Left',
  arrowright: 'Right',
  pageup: 'PageUp',
  pagedown: 'PageDown',
  pgup: 'PageUp',
  pgdn: 'PageDown',
  esc: 'Escape',
  ' ': 'Space',
}
const known = ['Up', 'Down', 'Left', 'Right', 'PageUp', 'PageDown', 'Home', 'End', 'Insert']
const named = new Map(
  [...known, ...reserved, ...Array.from({ length: 12 }, (_, n) => `F${n + 1}`)].map((name) => [
    name.toLowerCase(),
    name,
  ]),
)

/** The name of a key without modifiers; undefined if it has none. */
function nameOf(key: string): string | undefined {
  const lower = key.toLowerCase()
  if (names[lower]) return names[lower]
  return [...key].length === 1 ? key.toUpperCase() : named.get(lower)
}

const isLetter = (name: string) => name.length > 1 || /[\p{L}\p{N}]/u.test(name)

/** The keys that a press holds down, as they are written; undefined for a modifier alone. */
export function keysOfPress(event: KeyboardEvent): string | undefined {
  const [, coded] = /^(?:Key|Digit)(.)$/.exec(event.code) ?? []
  // With Alt, a Mac types other signs than letters; Ctrl and the key beside 1 are the terminal everywhere.
  const strange = event.altKey && coded !== undefined && !/^[\w]$/.test(event.key)
  const key = strange ? coded : event.code === 'Backquote' && event.ctrlKey ? '`' : event.key
  const name = nameOf(key)
  if (!name) return undefined
  const held = [
    (event.ctrlKey || event.metaKey) && 'Ctrl',
    event.altKey && 'Alt',
    event.shiftKey && isLetter(name) && 'Shift',
  ]
  return [...held, name].filter(Boolean).join('+')
}

/** Keys as they are written here, from how somebody wrote them; undefined if they mean nothing. */
export function readKeys(written: string): string | undefined {
  const parts = written.trim().split(/\s*\+\s*(?=.)/)
  const name = nameOf(parts.pop() ?? '')
  if (!name) return undefined
  const held = new Set<string>()
  for (const part of parts) {
    const modifier = { control: 'Ctrl', cmd: 'Ctrl', meta: 'Ctrl', option: 'Alt' }[
      part.toLowerCase()
    ]
    const found = modifiers.find((it) => it === modifier || it.toLowerCase() === part.toLowerCase())
    if (!found) return undefined
    held.add(found)
  }
  if (!isLetter(name)) held.delete('Shift')
  return [...modifiers.filter((it) => held.has(it)), name].join('+')
}

/** Why a command cannot have keys; undefined if it can. A letter alone would be typed. */
export function refusal(keys: string): 'reserved' | 'typed' | undefined {
  if (reserved.has(keys) || /^Alt\+\d$/.test(keys)) return 'reserved'
  const isBare = !keys.includes('Ctrl+') && !keys.includes('Alt+')
  if (isBare && keys !== '?' && !/^(?:Shift\+)?F\d/.test(keys)) return 'typed'
  return undefined
}

/** The keys of all commands. What cannot be read or had is left out. */
export function keysOf({ preset = '', keys = {} }: Choice): Keys {
  const base: Keys = { ...usual, ...(presets as Record<string, Partial<Keys>>)[preset] }
  return Object.fromEntries(
    commands.map((command) => {
      const chosen = keys[command]
      if (!Array.isArray(chosen)) return [command, base[command]]
      const read = (chosen as unknown[]).map((it) => readKeys(String(it)))
      return [command, read.filter((it): it is string => it !== undefined && !refusal(it))]
    }),
  ) as Keys
}

/** The commands that share keys, by these keys. The first one has them. */
export function conflictsOf(all: Keys): Map<string, Command[]> {
  const found = new Map<string, Command[]>()
  for (const command of commands) {
    for (const keys of all[command]) found.set(keys, [...(found.get(keys) ?? []), command])
  }
  for (const [keys, of] of found) if (of.length < 2) found.delete(keys)
  return found
}

/** The command of a press; undefined if it has none. */
export function commandOf(event: KeyboardEvent, all: Keys): Command | undefined {
  const keys = keysOfPress(event)
  return keys === undefined ? undefined : commands.find((command) => all[command].includes(keys))
}

/** The choice with other keys of a command; undefined gives it those of the preset. */
export function withKeys(choice: Choice, command: Command, keys: readonly string[] | undefined) {
  const all = Object.entries(choice.keys ?? {})
  const others = Object.fromEntries(all.filter(([name]) => name !== command))
  return { preset: choice.preset ?? '', keys: keys ? { ...others, [command]: keys } : others }
}

/** Keys as people read them. */
export const shown = (keys: string): string =>
  keys
    .replace(/\bUp$/, '↑')
    .replace(/\bDown$/, '↓')
    .replace(/\bLeft$/, '←')
    .replace(/\bRight$/, '→')
    .replace(/PageUp$/, 'PgUp')
    .replace(/PageDown$/, 'PgDn')
