/** What Read shows of a file: its lines apart from their numbers. */
import { highlightLines, languageOf } from './highlight'

/** A line of the file, or, without a number, a note about what is not shown. */
export type CodeLine = { number: string; html: string }

const numbered = /^(\d+) \| (.*)$/

/** The lines as HTML with classes only; undefined where the output has no numbers. */
export function codeLines(output: string, path: string): CodeLine[] | undefined {
  const lines = output.replace(/\n$/, '').split('\n')
  const parts = lines.map((line) => numbered.exec(line))
  if (!parts.some(Boolean)) return undefined
  // Notes are left out of the text that is coloured, so that they do not disturb it.
  const code = parts.flatMap((part) => (part ? [part[2]!] : []))
  const html = highlightLines(code.join('\n'), languageOf(path))
  let next = 0
  return parts.map((part, at) =>
    part
      ? { number: part[1]!, html: html[next++]! }
      : { number: '', html: highlightLines(lines[at]!, '').join('') },
  )
}
