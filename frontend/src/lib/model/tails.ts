/** Text that arrives in pieces, each with its place in the whole. */

/** Joins a delta by its offset: overlap is skipped, undefined means a gap. */
export function joined(text: string, delta: { text: string; offset: number }): string | undefined {
  if (delta.offset > text.length) return undefined
  return text + delta.text.slice(text.length - delta.offset)
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
