/** What the palette finds, and in which order. */

export type PaletteKind =
  'session' | 'command' | 'panel' | 'file' | 'symbol' | 'model' | 'setting' | 'prompt'

export type PaletteEntry = {
  /** Unique, and the same in every start of the program. */
  id: string
  kind: PaletteKind
  label: string
  /** What tells it from others of the same label. */
  hint?: string
  keys?: string
  /** Other words for it, which are searched, but not shown. */
  words?: string
  run: () => unknown
}

/** When something was chosen: how often, and the last time in ms. */
export type Use = { n: number; at: number }

/** What a sign at the beginning limits the palette to. */
export const signs: Readonly<Record<string, readonly PaletteKind[]>> = {
  '>': ['command', 'panel', 'setting'],
  '/': ['prompt'],
  '@': ['file'],
  ':': ['symbol'],
  '#': ['session'],
}

/** How many uses are kept, and how many entries are shown. */
const mostUses = 200
export const mostShown = 60

/**
 * How well a text has a word: 0 if not at all. The beginning is better than that of a word, and this better
 * than a part of a word.
 */
function match(text: string, word: string): number {
  const at = text.indexOf(word)
  if (at < 0) return 0
  const isStart = at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1]!)
  if (!isStart) return 4
  return at === 0 && text.length === word.length ? 12 : at === 0 ? 9 : 7
}

function inOrder(text: string, word: string): boolean {
  if (word.length < 3) return false
  let at = -1
  for (const letter of word) {
    at = text.indexOf(letter, at + 1)
    if (at < 0) return false
  }
  return true
}

/** How much lately used things come first: a use counts half after a week. */
function weight(use: Use | undefined, now: number): number {
  if (!use) return 0
  const weeks = Math.max(0, now - use.at) / (7 * 24 * 3600 * 1000)
  return Math.log2(1 + use.n) * 0.5 ** weeks
}

/** A file is rather meant by its name than by its folders. */
const nameOf = ({ kind, label }: PaletteEntry) =>
  kind === 'file' ? label.slice(label.lastIndexOf('/') + 1) : label

type Plain = { name: string; rest: string }
/** What is searched of an entry, in lower case, made once. */
const plain = new WeakMap<PaletteEntry, Plain>()

function plainOf(entry: PaletteEntry): Plain {
  let made = plain.get(entry)
  if (!made) {
    const rest = `${entry.label} ${entry.hint ?? ''} ${entry.words ?? ''}`.toLowerCase()
    plain.set(entry, (made = { name: nameOf(entry).toLowerCase(), rest }))
  }
  return made
}

function score(entry: PaletteEntry, words: readonly string[]): number {
  const { name, rest } = plainOf(entry)
  let sum = 0
  for (const word of words) {
    const apart = inOrder(name, word) ? 1 : 0
    const best = Math.max(match(name, word), Math.min(3, match(rest, word) / 2), apart)
    if (best === 0) return 0
    sum += best
  }
  return sum / words.length - name.length / 1000
}

/** The entries that are meant by what is typed, best first. Without words, only what was used, and what is no file. */
export function ranked(
  entries: readonly PaletteEntry[],
  typed: string,
  uses: Readonly<Record<string, Use>>,
  now: number,
): PaletteEntry[] {
  const text = typed.trim().toLowerCase()
  const kinds = signs[text[0] ?? '']
  const words = (kinds ? text.slice(1) : text).split(/\s+/).filter(Boolean)
  const found: { entry: PaletteEntry; score: number; at: number }[] = []
  for (const [at, entry] of entries.entries()) {
    if (kinds && !kinds.includes(entry.kind)) continue
    const use = weight(uses[entry.id], now)
    if (words.length === 0) {
      if (kinds || use > 0 || (entry.kind !== 'file' && entry.kind !== 'symbol'))
        found.push({ entry, score: use, at })
      continue
    }
    const fit = score(entry, words)
    if (fit > 0) found.push({ entry, score: fit + Math.min(3, use), at })
  }
  return found
    .sort((a, b) => b.score - a.score || a.at - b.at)
    .slice(0, mostShown)
    .map(({ entry }) => entry)
}

/** The uses after one more. The oldest are forgotten. */
export function used(
  uses: Readonly<Record<string, Use>>,
  id: string,
  now: number,
): Record<string, Use> {
  const next = { ...uses, [id]: { n: (uses[id]?.n ?? 0) + 1, at: now } }
  const newest = Object.entries(next).sort(([, a], [, b]) => b.at - a.at)
  return Object.fromEntries(newest.slice(0, mostUses))
}

/** Reads stored uses, of which nothing is sure. */
export function readUses(stored: string): Record<string, Use> {
  try {
    const all = JSON.parse(stored || '{}') as Record<string, unknown>
    return Object.fromEntries(
      Object.entries(all).filter((pair): pair is [string, Use] => isUse(pair[1])),
    )
  } catch {
    return {}
  }
}

const isUse = (it: unknown): it is Use =>
  typeof it === 'object' &&
  it !== null &&
  Number.isFinite((it as Use).n) &&
  Number.isFinite((it as Use).at)
