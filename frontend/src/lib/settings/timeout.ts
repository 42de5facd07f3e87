/** The timeout of commands, in whole seconds (K-01). */

/** The bounds of the timeout. */
const least = 1
const most = 600

/** A suggestion for users who find the models' own timeouts too short. */
export const preset = 120

/** Parses a typed timeout: undefined for none, null if it is not a whole number. */
export function parseTimeout(typed: string): number | undefined | null {
  const text = typed.trim()
  if (text === '') return undefined
  const match = /^(\d{1,9})\s*s?$/i.exec(text)
  return match ? Number(match[1]) : null
}

export const clamped = (seconds: number): number => Math.min(most, Math.max(least, seconds))
