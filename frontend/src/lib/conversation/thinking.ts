/** Shows current thinking on one line. */
import type { AnswerEntry } from '../model/entries'

/** Whether the model is thinking. A page that was opened meanwhile does not know since when. */
export const isThinking = (entry: AnswerEntry): boolean =>
  entry.streaming && (entry.thinkingSince !== undefined || (!entry.text && !entry.thinkingMs))

/** The last line of the thinking so far, without Markdown marks. */
export function lastLine(thinking: string): string {
  const end = thinking.trimEnd()
  return end.slice(end.lastIndexOf('\n') + 1).replace(/^[\s#>*-]+|\*\*/g, '')
}
