/** The keys that open panels. They stand apart from the table of shortcuts, which the first screen does without. */

/** The place of the panel that a key press opens, from 0; undefined for other keys. With Alt, a Mac types other signs than digits. */
export function panelAt(event: KeyboardEvent): number | undefined {
  if (!event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return undefined
  const [, digit] = /^Digit(\d)$/.exec(event.code) ?? []
  return digit === undefined ? undefined : (Number(digit) + 9) % 10
}

/** The keys that open the panel at a place, from 0. */
export const panelKeys = (at: number): string => `Alt+${(at + 1) % 10}`
