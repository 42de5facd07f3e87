/** Separates the lines of a file from their numbers in the output of Read. */
import { highlightLines, languageOf } from './highlight'

/** A line of the file, or a note about lines that are not shown, which has no number. */
export type CodeLine = { number: string; html: string }

const numbered = /^(\d+) \| (.*)$/

/** The lines as HTML that only has classes; undefined if the output has no line numbers. */
export function codeLines(output: string, path: string): CodeLine[] | undefined {
  const lines = output.replace(/\n$/, '').split('\n')
  const parts = lines.map((line) => numbered.exec(line))
  if (!parts.some(Boolean)) return undefined
  // Notes are left out of the text that is highlighted, because they are not code.
  const code = parts.flatMap((part) => (part ? [part[2]!] : []))
  const html = highlightLines(code.join('\n'), languageOf(path))
  let next = 0
  return parts.map((part, at) =>
    part
      ? { number: part[1]!, html: html[next++]! }
      : { number: '', html: highlightLines(lines[at]!, '').join('') },
  )
}
