/** Text that arrives in pieces, each with its offset in the whole text. */

/** How many characters of a live answer are kept. A longer text takes too long to lay out again with each piece. */
const longestAnswer = 32_000

/**
 * Appends a delta to a text that begins at an offset. An overlap is skipped; undefined means that a piece is
 * missing. The beginning of a long text is dropped, in large steps so that it happens rarely.
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

/** The end of a live answer that was read as a whole, as long as what is kept of one that grew. */
export function newest(text: string, from: number): { text: string; from: number } {
  const surplus = Math.max(0, text.length - longestAnswer)
  return { text: text.slice(surplus), from: from + surplus }
}

/** How many characters of live output are kept. */
const longestTail = 32_000

/** Appends a delta to live output. Unlike an answer, output may skip ahead if a piece is missing. */
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
