/** The jumps in a conversation, with the keys that the menu and the help show. */
export const jumps = [
  'start',
  'previous_prompt',
  'next_prompt',
  'previous_error',
  'next_error',
  'newest',
] as const

export type Jump = (typeof jumps)[number]

export const keysOf: Record<Jump, string> = {
  start: 'Alt+Home',
  previous_prompt: 'Alt+PgUp',
  next_prompt: 'Alt+PgDn',
  previous_error: 'Shift+F8',
  next_error: 'F8',
  newest: 'Alt+End',
}

/** The jump that a key press asks for. */
export function jumpOf(event: KeyboardEvent): Jump | undefined {
  if (event.ctrlKey || event.metaKey) return undefined
  if (event.key === 'F8' && !event.altKey) return event.shiftKey ? 'previous_error' : 'next_error'
  if (!event.altKey || event.shiftKey) return undefined
  const pressed: Record<string, Jump> = {
    Home: 'start',
    PageUp: 'previous_prompt',
    PageDown: 'next_prompt',
    End: 'newest',
  }
  return pressed[event.key]
}
