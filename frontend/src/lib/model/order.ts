/** What the place of a queued message means: when it is delivered, and moving it. */
import { isCompacting } from './compaction'
import { isCommandRunning } from './localCommand'
import type { View } from './entries'
import type { Queued } from '../types.gen'

/** What the session does: run tools, hear an answer, run a command of the user's, be compacted, or nothing. */
export type Phase = 'tools' | 'answer' | 'command' | 'compacting' | 'rest'

export function phaseOf(view: View): Phase {
  const { state, entries } = view
  if (state === 'idle' || state === 'closed') return 'rest'
  if (isCompacting(view)) return 'compacting'
  if (isCommandRunning(view)) return 'command'
  for (let i = entries.length - 1; i >= 0; i--) {
    const entry = entries[i]!
    if (entry.type === 'turn') break
    if (entry.type === 'tool' && ['queued', 'running', 'waiting'].includes(entry.status)) {
      return 'tools'
    }
  }
  return 'answer'
}

/** When a message is delivered; one that `waits` does so until the user sends it. */
export type Delivery =
  | 'after_tools'
  | 'next_step'
  | 'next'
  | 'then'
  | 'waits'
  | 'along'
  | 'after_command'
  | 'after_compacting'

export function deliveries(queue: readonly Queued[], phase: Phase): Delivery[] {
  const isResting = phase === 'rest'
  // A turn begins with what follows up; only where nothing does, with the first one.
  const following = queue.findIndex(({ verb }) => verb === 'follow_up')
  const first = isResting ? Math.max(0, following) : following
  return queue.map(({ verb }, index): Delivery => {
    if (index === first) {
      if (phase === 'command' || phase === 'compacting') return `after_${phase}`
      return isResting ? 'waits' : 'next'
    }
    if (verb === 'follow_up') return 'then'
    if (phase !== 'tools' && phase !== 'answer') return 'along'
    return phase === 'tools' ? 'after_tools' : 'next_step'
  })
}

/** The queue with a message at another place, counted from 0. */
export function moved(queue: readonly Queued[], id: string, to: number): readonly Queued[] {
  const message = queue.find((other) => other.id === id)
  return message ? queue.filter((other) => other !== message).toSpliced(to, 0, message) : queue
}

/** The place among others, by their middles from the top, that a height stands for. */
export const placeAt = (middles: readonly number[], y: number): number =>
  middles.filter((middle) => middle < y).length
