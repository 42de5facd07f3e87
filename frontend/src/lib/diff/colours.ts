/** Lines of a diff as HTML: coloured by their language, with the words that changed marked. */
import { highlightLines, languageOf } from '../markdown/highlight'
import { markedHTML } from '../markdown/marked'
import type { DiffLine } from '../model/diff'
import type { DiffRow } from '../model/diffRows'
import { changedWords, type Range } from '../model/words'

/** What a line shows at first; the rest of it is shown on request. */
export const longestLine = 4000

/** Longer lines are not coloured. */
const longestColoured = 1000

/** The lines of some rows, each with its HTML. Whole lines are shown of those in `whole`. */
export function colour(
  rows: readonly DiffRow[],
  path: string,
  whole: ReadonlySet<DiffLine>,
): Map<DiffLine, string> {
  const language = languageOf(path)
  const lines = linesOf(rows)
  const found = new Map<DiffLine, string>()
  // Each side is a text of its own, so that a string or comment ends where it ends in its file.
  for (const other of ['add', 'del'] as const) {
    const side = lines.filter(({ kind }) => kind !== other)
    const texts = side.map(({ text }) => (text.length > longestColoured ? '' : text))
    const html = highlightLines(texts.join('\n'), language)
    for (const [at, line] of side.entries()) {
      const marks = line.kind === 'same' ? [] : marksOf(line)
      const plain = () =>
        highlightLines(whole.has(line) ? line.text : line.text.slice(0, longestLine), '').join('')
      found.set(line, markedHTML(texts[at] ? html[at]! : plain(), marks))
    }
  }
  return found
}

function linesOf(rows: readonly DiffRow[]): DiffLine[] {
  return rows.flatMap((row) => {
    if (row.kind === 'gap') return []
    if (row.kind === 'line') return [row.line]
    const both = row.left === row.right ? [row.left] : [row.left, row.right]
    return both.filter((line) => line !== undefined)
  })
}

const marks = new WeakMap<DiffLine, Range[]>()

function marksOf(line: DiffLine): Range[] {
  const { mate } = line
  if (!mate) return []
  const known = marks.get(line)
  if (known) return known
  const [del, add] = line.kind === 'del' ? [line, mate] : [mate, line]
  const [before, after] = changedWords(del.text, add.text)
  marks.set(del, before)
  marks.set(add, after)
  return line === del ? before : after
}
