import { isCompacting } from './compaction'
import type { View } from './entries'
import { isCommandRunning } from './localCommand'
import { withoutHidden } from './visible'

/** What a session does while a message to it is written: nothing, a turn, a question, a command, a compaction. */
export type Activity = 'rest' | 'running' | 'waiting' | 'command' | 'compacting'

/** Work that can be followed, but not steered. */
export const isBetweenTurns = (activity: Activity): activity is 'command' | 'compacting' =>
  activity === 'command' || activity === 'compacting'

export function activityOf(view: View | undefined): Activity {
  if (view && view.pending.length > 0) return 'waiting'
  if (view?.state !== 'processing') return 'rest'
  if (isCompacting(view)) return 'compacting'
  return isCommandRunning(view) ? 'command' : 'running'
}

/** The command line of a text that is one for the shell; undefined for a message to the agent. */
export const commandIn = (text: string): string | undefined =>
  text.startsWith('!') ? text.slice(1).trim() : undefined

/** Whether an untrusted text would be a command, even behind invisible characters. Such a text is not offered. */
export const isCommandLike = (text: string): boolean =>
  commandIn(withoutHidden(text).trim()) !== undefined
