/** Which keys in a terminal are not the shell's. */

export type TerminalKey =
  'copy' | 'paste' | 'find' | 'tell' | 'new' | 'close' | 'next' | 'previous' | 'window'

const shifted: Record<string, TerminalKey> = {
  KeyC: 'copy',
  KeyV: 'paste',
  KeyF: 'find',
  Enter: 'tell',
  KeyT: 'new',
  KeyW: 'close',
  PageDown: 'next',
  PageUp: 'previous',
}

/** What a key does in place of going to the shell; undefined for the shell's keys. */
export function keyOf(event: KeyboardEvent): TerminalKey | undefined {
  const { code, ctrlKey, shiftKey, altKey, metaKey } = event
  if (ctrlKey && shiftKey && !altKey && !metaKey) return shifted[code]
  if (code === 'F6' && !ctrlKey && !altKey && !metaKey) return 'window'
  const isWindows = ['Backquote', 'Period', 'Comma', 'Slash'].includes(code)
  if (ctrlKey && !shiftKey && !altKey && !metaKey && isWindows) return 'window'
  if (altKey && !ctrlKey && !shiftKey && !metaKey && /^Digit\d$/.test(code)) return 'window'
  return metaKey ? 'window' : undefined
}

/** What a terminal printed, as a block of a message. */
export function asQuote(text: string): string {
  const lines = text.replace(/[ \t]+$/gm, '').replace(/^\n+|\n+$/g, '')
  const longest = Math.max(2, ...[...lines.matchAll(/`+/g)].map(([it]) => it.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}console\n${lines}\n${fence}\n`
}
