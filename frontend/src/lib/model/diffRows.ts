/** A diff as the rows that are shown: one column or two, more context, without mere spaces. */
import { align, best } from './align'
import { blocksOf, type Diff, type DiffLine, type Hunk } from './diff'
import { countWords, likeness } from './words'

export type DiffRow =
  /** Lines of the new file that are not shown, before a hunk or at the end; `to` is unknown there. */
  | { kind: 'gap'; from: number; to?: number; hunk?: Hunk }
  | { kind: 'line'; line: DiffLine }
  | { kind: 'pair'; left?: DiffLine; right?: DiffLine }

export type Shown = {
  rows: DiffRow[]
  /** The row that each change begins at. */
  changes: number[]
}

export type Wish = {
  split: boolean
  /** Lines of the new file that were read, by their numbers. */
  context: ReadonlyMap<number, string>
  /** Whether more of them can be read. */
  grows: boolean
  /** Every hunk has a row before it, even where no lines are left out. */
  heads: boolean
  /** How many lines the new file has, if that is known. */
  length?: number
}

/** Lines are paired by their words in blocks of up to this many pairs, else by their places. */
const mostPairs = 1600

/** In a diff of more changed lines than this, all lines are paired by their places. */
const mostChanged = 3000

/** Finds the added line that replaces each removed one. */
export function pairLines(diff: Diff): Diff {
  const blocks = diff.hunks.flatMap(({ lines }) => blocksOf(lines))
  const changed = blocks.reduce((sum, { dels, adds }) => sum + dels.length + adds.length, 0)
  for (const { dels, adds } of blocks) {
    if (changed > mostChanged || dels.length * adds.length > mostPairs) pairByPlace(dels, adds)
    else pairByWords(dels, adds)
  }
  return diff
}

function pair(del: DiffLine, add: DiffLine): void {
  del.mate = add
  add.mate = del
}

function pairByPlace(dels: readonly DiffLine[], adds: readonly DiffLine[]): void {
  const both = Math.min(dels.length, adds.length)
  for (let at = 0; at < both; at++) pair(dels[at]!, adds[at]!)
}

function pairByWords(dels: readonly DiffLine[], adds: readonly DiffLine[]): void {
  if (dels.length === 0 || adds.length === 0) return
  const [one, other] = [dels, adds].map((lines) => lines.map(({ text }) => countWords(text)))
  const worth = (del: number, add: number) => likeness(one![del]!, other![add]!)
  for (const [del, add] of best(dels.length, adds.length, worth)) pair(dels[del]!, adds[add]!)
}

const bare = ({ text }: DiffLine) => text.replace(/\s+/g, '')

/** The diff without lines that change in nothing but spaces; a hunk of only such lines is left out. */
export function withoutSpaces(diff: Diff): Diff {
  const hunks = diff.hunks.flatMap((hunk) => {
    const lines = withoutSpacesIn(hunk.lines)
    return lines.some(({ kind }) => kind !== 'same') ? [{ ...hunk, lines }] : []
  })
  return { ...diff, hunks }
}

function withoutSpacesIn(lines: readonly DiffLine[]): DiffLine[] {
  const kept: DiffLine[] = []
  const keep = (some: readonly DiffLine[]) => some.forEach((line) => kept.push(line))
  let at = 0
  for (const { from, dels, adds } of blocksOf(lines)) {
    keep(lines.slice(at, from))
    at = from + dels.length + adds.length
    let [del, add] = [0, 0]
    for (const [one, other] of align(dels.map(bare), adds.map(bare))) {
      keep(dels.slice(del, one))
      keep(adds.slice(add, other))
      kept.push({ ...adds[other]!, kind: 'same', old: dels[one]!.old, mate: undefined })
      del = one + 1
      add = other + 1
    }
    keep(dels.slice(del))
    keep(adds.slice(add))
  }
  keep(lines.slice(at))
  return kept
}

/** Lays a diff out as rows. */
export function rowsOf(diff: Diff, { split, context, grows, heads, length }: Wish): Shown {
  const shown: Shown = { rows: [], changes: [] }
  let next = 1
  let shift = 0 // from a line's new number to its old one
  for (const hunk of diff.hunks) {
    gap(shown.rows, { from: next, to: hunk.new - 1, hunk }, shift, { split, context, heads })
    lay(shown, hunk.lines, split)
    next = hunk.new + hunk.lines.filter(({ kind }) => kind !== 'del').length
    shift = hunk.old + hunk.lines.filter(({ kind }) => kind !== 'add').length - next
  }
  if (endsOpen(diff)) {
    while (context.has(next)) shown.rows.push(same(next, shift, split, context.get(next++)!))
    if (grows && (length === undefined || next <= length))
      shown.rows.push({ kind: 'gap', from: next })
  }
  return shown
}

/** Whether lines may follow the last hunk. */
const endsOpen = ({ hunks, cut, whole }: Diff) =>
  hunks.length > 0 && !cut && !whole && !hunks.at(-1)!.lines.at(-1)?.unended

/** What is known of a gap, from both of its ends, around what is not. */
function gap(
  rows: DiffRow[],
  { from, to, hunk }: { from: number; to: number; hunk: Hunk },
  shift: number,
  { split, context, heads }: Pick<Wish, 'split' | 'context' | 'heads'>,
): void {
  let [start, end] = [from, to]
  while (start <= end && context.has(start))
    rows.push(same(start, shift, split, context.get(start++)!))
  while (end >= start && context.has(end)) end--
  if (heads || start <= end) rows.push({ kind: 'gap', from: start, to: end, hunk })
  for (let at = end + 1; at <= to; at++) rows.push(same(at, shift, split, context.get(at)!))
}

function same(number: number, shift: number, split: boolean, text: string): DiffRow {
  const crlf = text.endsWith('\r')
  const line: DiffLine = {
    kind: 'same',
    text: crlf ? text.slice(0, -1) : text,
    old: number + shift,
    new: number,
    ...(crlf && { crlf }),
  }
  return split ? { kind: 'pair', left: line, right: line } : { kind: 'line', line }
}

function lay({ rows, changes }: Shown, lines: readonly DiffLine[], split: boolean): void {
  let at = 0
  const plain = (to: number) => {
    for (; at < to; at++) {
      const line = lines[at]!
      rows.push(split ? { kind: 'pair', left: line, right: line } : { kind: 'line', line })
    }
  }
  for (const block of blocksOf(lines)) {
    const { from, dels, adds } = block
    plain(from)
    changes.push(rows.length)
    if (split) sideBySide(rows, dels, adds)
    else {
      for (const line of dels) rows.push({ kind: 'line', line })
      for (const line of adds) rows.push({ kind: 'line', line })
    }
    at = from + dels.length + adds.length
  }
  plain(lines.length)
}

/** Pairs are side by side, and so are the lines between two pairs, in their order. */
function sideBySide(rows: DiffRow[], dels: readonly DiffLine[], adds: readonly DiffLine[]): void {
  let add = 0
  let waiting: DiffLine[] = []
  const flush = (to: number) => {
    const coming = adds.slice(add, to)
    for (let at = 0; at < Math.max(waiting.length, coming.length); at++) {
      rows.push({ kind: 'pair', left: waiting[at], right: coming[at] })
    }
    waiting = []
    add = to
  }
  for (const del of dels) {
    const mate = del.mate ? adds.indexOf(del.mate, add) : -1
    if (mate < 0) {
      waiting.push(del)
      continue
    }
    flush(mate)
    rows.push({ kind: 'pair', left: del, right: adds[mate] })
    add = mate + 1
  }
  flush(adds.length)
}
