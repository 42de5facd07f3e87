/** The time limit of commands, in whole seconds (K-01). */

/** What the limit can be. */
const least = 1
const most = 600

/** What people set who find the models' own limits too short. */
export const preset = 120

/** The typed limit: undefined for none, null if it is not a whole number. */
export function parseTimeout(typed: string): number | undefined | null {
  const text = typed.trim()
  if (text === '') return undefined
  const match = /^(\d{1,9})\s*s?$/i.exec(text)
  return match ? Number(match[1]) : null
}

export const clamped = (seconds: number): number => Math.min(most, Math.max(least, seconds))
