/** A unified diff as hunks of numbered lines. */

export type Side = 'old' | 'new'

export type DiffLine = {
  kind: 'same' | 'add' | 'del'
  /** Without its line ending. */
  text: string
  old?: number
  new?: number
  /** It ended in CR LF. */
  crlf?: true
  /** The file ends here, without a newline. */
  unended?: true
  /** What the line was before, or became: the other of a pair. */
  mate?: DiffLine
}

export type Hunk = {
  /** Its place in the diff, from 0. */
  index: number
  /** What encloses the lines, such as a function, according to the header. */
  heading: string
  lines: DiffLine[]
  /** Where its text begins and ends among the lines of the diff. */
  from: number
  to: number
  /** The numbers that its first lines have, or would have, on both sides. */
  old: number
  new: number
}

export type Diff = {
  hunks: Hunk[]
  /** How many lines follow that are not shown. */
  cut: number
  /** Every line that is shown ends in CR LF. */
  crlf: boolean
  /** The whole file is added or removed, so its lines have no context. */
  whole: boolean
}

/** More lines than these are counted only. */
const mostLines = 100_000

const header = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@ ?([^]*)$/
const kinds: Record<string, DiffLine['kind']> = { '+': 'add', '-': 'del', ' ': 'same' }

/**
 * Reads the hunks of one file's diff, whether or not lines that name the file precede them. It
 * believes no header about how many lines follow: each line of a hunk is shown.
 */
export function parseDiff(diff: string, most = mostLines): Diff {
  const hunks: Hunk[] = []
  let hunk: Hunk | undefined
  let [before, after] = [0, 0]
  let [leftBefore, leftAfter] = [0, 0]
  let [count, cut, ended] = [0, 0, 0]
  let whole = false
  const lines = diff.replace(/\n$/, '').split('\n')
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!
    const match = line.startsWith('@@') ? header.exec(line) : null
    if (match) {
      before = Number(match[1])
      after = Number(match[3])
      leftBefore = Number(match[2] ?? 1)
      leftAfter = Number(match[4] ?? 1)
      whole = (leftBefore === 0 && before === 0) || (leftAfter === 0 && after === 0)
      // A side without lines names the line before them.
      if (leftBefore === 0) before++
      if (leftAfter === 0) after++
      const heading = match[5]!.replace(/\r$/, '')
      hunk = {
        index: hunks.length,
        heading,
        lines: [],
        from: at,
        to: at + 1,
        old: before,
        new: after,
      }
      if (count < most) hunks.push(hunk)
      continue
    }
    if (!hunk) continue
    if (line.startsWith('\\')) {
      const last = hunk.lines.at(-1)
      if (last) last.unended = true
      hunk.to = at + 1
      continue
    }
    const isOver = leftBefore <= 0 && leftAfter <= 0
    if (
      isOver &&
      (/^(diff|index) /.test(line) || (/^--- /.test(line) && /^\+\+\+ /.test(lines[at + 1] ?? '')))
    ) {
      hunk = undefined
      continue
    }
    // Some programs cut spaces off the ends of lines.
    const kind = line === '' ? 'same' : kinds[line[0]!]
    if (!kind) continue
    if (count >= most) {
      cut++
      continue
    }
    count++
    const entry: DiffLine = {
      kind,
      text: line.slice(1),
      old: undefined,
      new: undefined,
      mate: undefined,
    }
    if (entry.text.charCodeAt(entry.text.length - 1) === 13) {
      entry.text = entry.text.slice(0, -1)
      entry.crlf = true
      ended++
    }
    if (kind !== 'add') {
      entry.old = before++
      leftBefore--
    }
    if (kind !== 'del') {
      entry.new = after++
      leftAfter--
    }
    hunk.lines.push(entry)
    hunk.to = at + 1
  }
  return { hunks, cut, crlf: count > 0 && ended === count, whole: whole && hunks.length === 1 }
}

/** The text of a hunk, as the diff has it. */
export const textOfHunk = (diff: string, { from, to }: Hunk): string =>
  diff.split('\n').slice(from, to).join('\n') + '\n'

/** A run of removed lines, followed by the added ones that replace them. */
export type Block = { from: number; dels: DiffLine[]; adds: DiffLine[] }

/** The blocks of a hunk, and the index of the line that each begins at. */
export function blocksOf(lines: readonly DiffLine[]): Block[] {
  const blocks: Block[] = []
  let open: Block | undefined
  for (let from = 0; from < lines.length; from++) {
    const line = lines[from]!
    if (line.kind === 'same') {
      open = undefined
      continue
    }
    // A removed line after an added one begins another block.
    if (!open || (line.kind === 'del' && open.adds.length > 0)) {
      open = { from, dels: [], adds: [] }
      blocks.push(open)
    }
    if (line.kind === 'del') open.dels.push(line)
    else open.adds.push(line)
  }
  return blocks
}
