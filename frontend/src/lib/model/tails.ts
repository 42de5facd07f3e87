/** Text that arrives in pieces, each with its place in the whole. */

/** How much of a live answer is kept. A longer text would be laid out again with each piece. */
const longestAnswer = 32_000

/**
 * Joins a text that begins at an offset with a delta: overlap is skipped, undefined means a gap. The
 * beginning of a long text is left out, seldom and much of it at once.
 */
export function joined(
  held: string,
  from: number,
  delta: { text: string; offset: number },
): { text: string; from: number } | undefined {
  const end = from + held.length
  if (delta.offset > end) return undefined
  const text = held + delta.text.slice(end - delta.offset)
  const surplus = text.length > 2 * longestAnswer ? text.length - longestAnswer : 0
  return { text: text.slice(surplus), from: from + surplus }
}

const longestTail = 32_000

/** Live output is a tail: a command that prints faster than it is shown skips ahead. */
export function grownTail(
  { output, outputFrom }: { output: string; outputFrom: number },
  delta: { text: string; offset: number },
) {
  const end = outputFrom + output.length
  const isGap = delta.offset > end
  const text = isGap ? delta.text : output + delta.text.slice(end - delta.offset)
  const from = isGap ? delta.offset : outputFrom
  const surplus = Math.max(0, text.length - longestTail)
  return { output: text.slice(surplus), outputFrom: from + surplus }
}
