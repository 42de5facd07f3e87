import type { Preferences } from '../types.gen'

/** Preferences that consist of independent choices. All others are one choice. */
const parts = ['layout', 'notices', 'fonts', 'levels'] as const

type Values = Record<string, unknown>

/** Copies what differs between two objects into a third one. */
function copyChanges(to: Values, before: Values, after: Values): Values {
  const changed: Values = { ...to }
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (before[name] === after[name]) continue
    if (after[name] === undefined) delete changed[name]
    else changed[name] = after[name]
  }
  return changed
}

/**
 * Makes the change between two states of the preferences in those that are stored, which another window may have
 * changed since.
 */
export function withChange(
  stored: Preferences,
  before: Preferences,
  after: Preferences,
): Preferences {
  const merged = copyChanges(stored, before, after)
  for (const part of parts) {
    if (before[part] === after[part]) continue
    const now = after[part] ?? {}
    const isReset = Object.keys(now).length === 0
    merged[part] = isReset ? now : copyChanges(stored[part] ?? {}, before[part] ?? {}, now)
  }
  return merged as Preferences
}
