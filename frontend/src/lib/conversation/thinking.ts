/** How current thinking is shown in one line. */
import { duration } from '../model/format'
import type { AnswerEntry } from '../model/entries'

/** Whether the model thinks right now; a page opened meanwhile does not know since when. */
export const isThinking = (entry: AnswerEntry): boolean =>
  entry.streaming && (entry.thinkingSince !== undefined || (!entry.text && !entry.thinkingMs))

/** A running time, in steps that can be read: 4 s, not 4.2 s. */
export const wholeSeconds = (ms: number): string =>
  ms < 60_000 ? `${Math.floor(Math.max(0, ms) / 1000)} s` : duration(ms)

/** What the model thought last, to its newest word. */
export function lastLine(thinking: string): string {
  const end = thinking.trimEnd()
  return end.slice(end.lastIndexOf('\n') + 1).replace(/^[\s#>*-]+|\*\*/g, '')
}
