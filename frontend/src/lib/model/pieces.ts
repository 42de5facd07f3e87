/** Long answers in pieces, each of which the list of a conversation draws and measures by itself. */
import type { AnswerEntry } from './entries'
import type { Row } from './rows'

/** How many characters a piece has at least, beside the first and the last of an answer: about half a screen. */
const length = 2000

/** A part of an answer that begins with a block of its Markdown. */
export type Piece = {
  type: 'piece'
  /** The first piece has the key of its answer. */
  key: string
  /** The key of its answer. */
  whole: string
  entry: AnswerEntry
  /** Where it begins and ends in the whole text; the last piece has no end. */
  from: number
  to: number
  /** How many pieces the answer has. */
  count: number
}

/** What the list draws: a row, or a piece of one. */
export type Item = Row | Piece

/** The row that an item belongs to. */
export const rowOf = (item: Item): Row => (item.type === 'piece' ? item.entry : item)

/** The key of the row that an item with a key belongs to. */
export const rowKey = (key: string): string => key.split(separator, 1)[0]!
const separator = '/'

/** What is kept of the text of a piece. */
export const textOf = ({ entry: { text, textFrom }, from, to }: Piece): string =>
  text.slice(Math.max(0, from - textFrom), to - textFrom)

/** The pieces of the answers of one conversation. It remembers where complete answers are cut. */
export class Pieces {
  readonly #known = new WeakMap<AnswerEntry, readonly Piece[]>()
  /** The answer that grows, which is a new entry with each change. */
  #growing?: { key: string; cuts: Cuts }

  /** The rows with the pieces of long answers in their place. */
  of(rows: readonly Row[]): readonly Item[] {
    return rows.some(isLong)
      ? rows.flatMap<Item>((row) => (isLong(row) ? this.#cut(row) : row))
      : rows
  }

  #cut(entry: AnswerEntry): readonly Piece[] {
    const known = this.#known.get(entry)
    if (known) return known
    const pieces = piecesOf(entry, this.#cutsOf(entry))
    this.#known.set(entry, pieces)
    return pieces
  }

  #cutsOf(entry: AnswerEntry): readonly number[] {
    const { key, text, textFrom, streaming } = entry
    if (!streaming) return new Cuts(textFrom).find(text, textFrom)
    const isSame = this.#growing?.key === key && this.#growing.cuts.reaches(text, textFrom)
    if (!isSame) this.#growing = { key, cuts: new Cuts(textFrom) }
    return this.#growing!.cuts.find(text, textFrom)
  }
}

const isLong = (row: Row): row is AnswerEntry => row.type === 'answer' && row.text.length > length

function piecesOf(entry: AnswerEntry, cuts: readonly number[]): Piece[] {
  const { key } = entry
  // A piece whose beginning is no longer kept is left out as a whole.
  const begins = [0, ...cuts].filter((cut, n) => cut >= entry.textFrom || n === cuts.length)
  return begins.map((from, n) => ({
    type: 'piece',
    key: n === 0 ? key : `${key}${separator}${from}`,
    whole: key,
    entry,
    from,
    to: begins[n + 1] ?? Infinity,
    count: begins.length,
  }))
}

/**
 * Finds where a text is cut: at the first line after each multiple of the length that surely begins a block, because
 * it is at the margin, after an empty one and outside code. As a place depends on what is before it only, a text keeps
 * its cuts while it grows, and when its beginning is left out.
 */
class Cuts {
  readonly #cuts: number[] = []
  /** Where the next line begins in the whole text. */
  #at: number
  #fence = ''
  /** Whether the code was opened beside the mark of an item of a list. It ends with the list at the latest. */
  #isListed = false
  #isAfterEmpty = false

  constructor(from: number) {
    this.#at = from
  }

  /** Whether a text can be the same, grown. */
  reaches = (text: string, from: number): boolean =>
    from <= this.#at && this.#at <= from + text.length

  /** The cuts in a text that begins at a place of the whole text, after the beginning. */
  find(text: string, from: number): readonly number[] {
    for (let end; (end = text.indexOf('\n', this.#at - from)) >= 0; this.#at = from + end + 1) {
      this.#read(text.slice(this.#at - from, end))
    }
    return this.#cuts
  }

  #read(line: string): void {
    const turn = Math.floor(this.#at / length)
    const isNext = turn > Math.floor((this.#cuts.at(-1) ?? 0) / length)
    if (isNext && this.#isAfterEmpty && /^[^\s\d*+>[-]/.test(line)) this.#cuts.push(this.#at)
    const [, item, mark] = /^ {0,3}((?:[*+-]|\d+[.)]) +)?(`{3,}(?=[^`]*$)|~{3,})/.exec(line) ?? []
    if (this.#isListed && /^\S/.test(line)) this.#fence = ''
    if (mark && !this.#fence) [this.#fence, this.#isListed] = [mark, item !== undefined]
    else if (mark?.startsWith(this.#fence) && line.trim() === mark) this.#fence = ''
    this.#isAfterEmpty = this.#fence === '' && line.trim() === ''
  }
}
