/** When each queued message is delivered, and how messages are moved in the queue. */
import { isCompacting } from './compaction'
import { isCommandRunning } from './localCommand'
import type { View } from './entries'
import type { Queued } from '../types.gen'

/** What the session is doing: running tools, receiving an answer, running the user's command, compacting, or nothing. */
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

/** When a message is delivered. A message that `waits` is delivered when the user sends it. */
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
  // The first follow-up begins the next turn. Without a follow-up the first message does.
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

/** Returns the queue with a message moved to a place, counted from 0. */
export function moved(queue: readonly Queued[], id: string, to: number): readonly Queued[] {
  const message = queue.find((other) => other.id === id)
  return message ? queue.filter((other) => other !== message).toSpliced(to, 0, message) : queue
}

/** The place in a list that a height points at, given the middles of the items from the top. */
export const placeAt = (middles: readonly number[], y: number): number =>
  middles.filter((middle) => middle < y).length
