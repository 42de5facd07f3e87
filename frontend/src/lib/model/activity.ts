import { isCompacting } from './compaction'
import type { View } from './entries'
import { isCommandRunning } from './localCommand'
import { withoutHidden } from './visible'

/** What a session is doing: nothing, running a turn, waiting for an answer, running a command, or compacting. */
export type Activity = 'rest' | 'running' | 'waiting' | 'command' | 'compacting'

/** Work outside a turn: messages can be queued for after it, but cannot steer it. */
export const isBetweenTurns = (activity: Activity): activity is 'command' | 'compacting' =>
  activity === 'command' || activity === 'compacting'

export function activityOf(view: View | undefined): Activity {
  if (view && view.pending.length > 0) return 'waiting'
  if (view?.state !== 'processing') return 'rest'
  if (isCompacting(view)) return 'compacting'
  return isCommandRunning(view) ? 'command' : 'running'
}

/** The shell command in a text that starts with "!"; undefined for a message to the agent. */
export const commandIn = (text: string): string | undefined =>
  text.startsWith('!') ? text.slice(1).trim() : undefined

/** Whether an untrusted text would run as a command, even behind invisible characters. Such a text is never suggested. */
export const isCommandLike = (text: string): boolean =>
  commandIn(withoutHidden(text).trim()) !== undefined
