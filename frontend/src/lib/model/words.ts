/** Which words of a line changed. */
import { align } from './align'

/** A part of a text, from a character to the one behind it. */
export type Range = { from: number; to: number }

/** Longer lines are compared by what they begin and end with. */
const mostWords = 400

// Chinese and Japanese have no spaces between words: a character is one.
const word =
  /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]|(?:(?![\p{sc=Han}\p{sc=Hira}\p{sc=Kana}])[\p{L}\p{N}_])+|\s+|[^\p{L}\p{N}_\s]/gu

const wordsOf = (text: string): string[] => text.match(word) ?? []

/** Two lines are versions of each other if they share this much of their words. */
const leastLikeness = 0.4

/** How alike two lines are, from 0 to 1, by the words that they share, in any order. */
export function likeness(one: Words, other: Words): number {
  if (one.length === 0 || other.length === 0) return one.length === other.length ? 1 : 0
  const [small, large] = one.counts.size < other.counts.size ? [one, other] : [other, one]
  let shared = 0
  for (const [text, count] of small.counts) {
    shared += Math.min(count, large.counts.get(text) ?? 0) * text.length
  }
  const alike = (2 * shared) / (one.length + other.length)
  return alike < leastLikeness ? 0 : alike
}

/** The words of a line, counted; spaces are not words. */
export type Words = { counts: Map<string, number>; length: number }

export function countWords(text: string): Words {
  const counts = new Map<string, number>()
  let length = 0
  for (const each of wordsOf(text.slice(0, 2000))) {
    if (/^\s/.test(each)) continue
    counts.set(each, (counts.get(each) ?? 0) + 1)
    length += each.length
  }
  return { counts, length }
}

/** The parts of two lines that the other does not have; none where all of them changed. */
export function changedWords(before: string, after: string): [Range[], Range[]] {
  if (likeness(countWords(before), countWords(after)) === 0) return [[], []]
  const [one, other] = [wordsOf(before), wordsOf(after)]
  if (one.length > mostWords || other.length > mostWords) return edges(before, after)
  const pairs = align(one, other)
  return [
    ranges(one, new Set(pairs.map(([at]) => at))),
    ranges(other, new Set(pairs.map(([, at]) => at))),
  ]
}

/** Everything between what both begin and end with. */
function edges(before: string, after: string): [Range[], Range[]] {
  const shorter = Math.min(before.length, after.length)
  let from = 0
  while (from < shorter && before[from] === after[from]) from++
  if (isHalf(before, from) || isHalf(after, from)) from--
  let end = 0
  while (end < shorter - from && before.at(-1 - end) === after.at(-1 - end)) end++
  if (isHalf(before, before.length - end) || isHalf(after, after.length - end)) end--
  const range = (text: string) =>
    text.length - end > from ? [{ from, to: text.length - end }] : []
  return [range(before), range(after)]
}

/** Whether a place is inside a character of two units. */
const isHalf = (text: string, at: number) => at > 0 && (text.codePointAt(at - 1) ?? 0) > 0xffff

/** The words that are not kept, as ranges; a mere space between two of them belongs to both. */
function ranges(words: readonly string[], kept: ReadonlySet<number>): Range[] {
  const found: Range[] = []
  let at = 0
  for (const [index, text] of words.entries()) {
    const last = found.at(-1)
    const isBridge =
      last?.to === at && /^\s+$/.test(text) && index + 1 < words.length && !kept.has(index + 1)
    if (!kept.has(index) || isBridge) {
      if (last?.to === at) last.to += text.length
      else found.push({ from: at, to: at + text.length })
    }
    at += text.length
  }
  return found
}
