/** The rows in which a conversation is drawn: finished turns are folded, runs of calls are grouped. */
import { agentTools, startsAgent } from './agents'
import { isAskedFor } from './compaction'
import { lastFailure } from './digest'
import { isRewound, type Entry, type ToolEntry, type TurnEntry } from './entries'
import { opensItself } from './outcomes'
import { isRestored } from './restored'

/** How much is drawn: everything (verbose), or of a finished turn only its line and its last answer (summary). */
export type Density = '' | 'verbose' | 'summary'

export const densities: readonly Density[] = ['', 'verbose', 'summary']

export const densityOf = (name: string | undefined): Density =>
  densities.find((density) => density === name) ?? ''

export const nextDensity = (density: Density): Density =>
  densities[(densities.indexOf(density) + 1) % densities.length]!

/** The line of a finished turn, which says what it did. */
export type FoldRow = {
  type: 'fold'
  key: string
  turn: TurnEntry
  entries: readonly Entry[]
  open: boolean
}

/** The line of successive calls, which follow it if it is open. */
export type GroupRow = { type: 'group'; key: string; calls: readonly ToolEntry[]; open: boolean }

export type Row = Entry | FoldRow | GroupRow

/**
 * The turns and groups that the user folded (false) and unfolded (true), by key, and the calls that the user
 * opened before they were grouped, which stay where they are. It is replaced, never modified.
 */
export type Folds = ReadonlyMap<string, boolean>

export const noFolds: Folds = new Map()

export const withFold = (folds: Folds, key: string, open: boolean): Folds =>
  new Map(folds).set(key, open)

/** A fold that hides a single row saves nothing. */
const leastHidden = 2
const leastCalls = 2

const foldKey = (turn: TurnEntry) => `f${turn.key}`

/** A finished turn, with what the user did since the turn before it. */
type Turn = {
  entries: readonly Entry[]
  end: TurnEntry
  /** What stays in sight when the turn is folded; undefined until it is needed. */
  kept?: ReadonlySet<Entry>
  /** The same in a summary. */
  least?: ReadonlySet<Entry>
}

/**
 * The rows of one conversation. It remembers the turns that are over, so that
 * an event costs what its own turn costs, not what the conversation costs.
 */
export class Rows {
  #turns: Turn[] = []
  /** How many entries the turns have, and the first and the last of them. */
  #settled = 0
  #first?: Entry
  #last?: Entry
  #rows: Row[] = []
  /** The calls that are drawn below the line of their group. */
  readonly #inside = new WeakSet<Entry>()
  #drawn?: { density: Density; folds: Folds; turns: number }

  of(entries: readonly Entry[], density: Density, folds: Folds): readonly Row[] {
    this.#settle(entries)
    const { length } = this.#turns
    const drawn = this.#drawn
    if (drawn?.density !== density || drawn.folds !== folds || drawn.turns > length) {
      this.#rows = []
    }
    const from = this.#rows.length === 0 ? 0 : drawn!.turns
    const look = { density, folds, inside: this.#inside }
    for (const turn of this.#turns.slice(from)) push(this.#rows, rowsOf(turn, look))
    this.#drawn = { density, folds, turns: length }
    const rest = this.#settled === 0 ? entries : entries.slice(this.#settled)
    return this.#rows.concat(grouped(rest, look, true))
  }

  /** Whether an entry is drawn below the line of its group. */
  isInside = (entry: Entry): boolean =>
    this.#drawn?.density !== 'verbose' && this.#inside.has(entry)

  /** Finds the turns that are over. */
  #settle(entries: readonly Entry[]): void {
    const isSame =
      entries[0] === this.#first &&
      (this.#settled === 0 || entries[this.#settled - 1] === this.#last)
    if (!isSame) {
      const known = new Map(this.#turns.map((turn) => [turn.end, turn]))
      this.#turns = []
      this.#rows = []
      this.#settled = 0
      this.#find(entries, known)
    } else this.#find(entries)
    this.#first = entries[0]
  }

  #find(entries: readonly Entry[], known?: ReadonlyMap<TurnEntry, Turn>): void {
    for (let i = this.#settled; i < entries.length; i++) {
      const end = entries[i]!
      if (end.type !== 'turn') continue
      const before = known?.get(end)
      const isWhole = before?.entries.length === i + 1 - this.#settled
      this.#turns.push(isWhole ? before : { entries: entries.slice(this.#settled, i + 1), end })
      this.#settled = i + 1
      this.#last = end
    }
  }
}

/** Without a spread, whose arguments have a limit. */
function push(rows: Row[], more: readonly Row[]): void {
  for (const row of more) rows.push(row)
}

type Look = { density: Density; folds: Folds; inside: WeakSet<Entry> }

function rowsOf(turn: Turn, look: Look): readonly Row[] {
  const { entries, end } = turn
  const { density, folds } = look
  if (density === 'verbose') return entries
  const key = foldKey(end)
  const kept = keptOf(turn, density)
  const hidden = entries.filter((entry) => entry !== end && !kept.has(entry))
  if (hidden.length < leastHidden) return grouped(entries, look, false)
  const open = folds.get(key) ?? false
  const fold: FoldRow = { type: 'fold', key, turn: end, entries, open }
  // The messages and commands of the user stay above the line, with the notices between them.
  const begun = entries.findIndex((entry) => !isOwn(entry) && entry.type !== 'notice')
  const first = entries.slice(0, begun).findLastIndex(isOwn) + 1
  const rest = entries.slice(first)
  const own = entries.slice(0, first)
  if (open) return [...own, fold, ...grouped(rest, look, false)]
  const isKept = (entry: Entry) => kept.has(entry)
  return [...own.filter(isKept), fold, ...rest.filter(isKept)]
}

/** What the user did, not the agent. */
const isOwn = (entry: Entry) =>
  entry.type === 'prompt' ||
  entry.type === 'command' ||
  isAskedFor(entry) ||
  isRestored(entry) ||
  isRewound(entry)

/** What stays in sight of a folded turn: what the user did, its last answer, and how it failed. */
function keptOf(turn: Turn, density: Density): ReadonlySet<Entry> {
  if (density === 'summary') return (turn.least ??= keep(turn, true))
  return (turn.kept ??= keep(turn, false))
}

function keep({ entries, end }: Turn, least: boolean): ReadonlySet<Entry> {
  const isNews = (entry: Entry) =>
    entry.type === 'notice' &&
    (entry.notice === 'error' || (!least && ['limit', 'warning', 'model'].includes(entry.notice)))
  const isLasting = (entry: Entry) => !least && entry.type === 'tool' && isLastingCall(entry)
  const kept = new Set(entries.filter((entry) => isOwn(entry) || isNews(entry) || isLasting(entry)))
  const answer = entries.findLast((entry) => entry.type === 'answer' && entry.text !== '')
  if (answer) kept.add(answer)
  const failure = least ? undefined : lastFailure(entries)
  if (failure) kept.add(failure)
  // The line says the same of a turn that was done.
  if (end.reason !== 'done') kept.add(end)
  return kept
}

/** A call with words of the user, or with an agent, which may still work when the turn is over. */
const isLastingCall = ({ tool, answer }: ToolEntry) =>
  startsAgent(tool) || Boolean(answer?.feedback)

/** Whether a group's line covers a call. One that failed, runs, waits or changed files has a row of its own. */
const isQuiet = (entry: Entry): entry is ToolEntry =>
  entry.type === 'tool' &&
  (entry.status === 'done' || entry.status === 'failed') &&
  !agentTools.has(entry.tool) &&
  !entry.details?.changes?.length &&
  !opensItself(entry)

/** Entries with runs of quiet calls grouped. In a running turn, the newest call has a row of its own. */
function grouped(entries: readonly Entry[], look: Look, runs: boolean): Row[] {
  const { density, folds, inside } = look
  if (density === 'verbose') return [...entries]
  const rows: Row[] = []
  let calls: ToolEntry[] = []
  const flush = () => {
    if (calls.length < leastCalls) push(rows, calls)
    else {
      const key = `g${calls[0]!.key}`
      const open = folds.get(key) ?? false
      rows.push({ type: 'group', key, calls, open })
      if (open) push(rows, calls)
      for (const call of calls) inside.add(call)
    }
    calls = []
  }
  for (const [index, entry] of entries.entries()) {
    if (isQuiet(entry) && !folds.has(entry.key) && !(runs && index === entries.length - 1)) {
      calls.push(entry)
      continue
    }
    flush()
    rows.push(entry)
  }
  flush()
  return rows
}

/** The folds in which an entry of the conversation can be seen. */
export function revealed(entries: readonly Entry[], key: string, folds: Folds): Folds {
  const at = entries.findIndex((entry) => entry.key === key)
  if (at < 0) return folds
  const open = new Map(folds)
  const end = entries.slice(at).find((entry) => entry.type === 'turn')
  if (end) open.set(foldKey(end), true)
  // A group begins with the first quiet call of its run.
  let first = at
  while (first >= 0 && isQuiet(entries[first]!)) open.set(`g${entries[first--]!.key}`, true)
  return open
}

/** The folds that leave a turn unfolded that has just ended. */
export const leftOpen = (turn: TurnEntry, folds: Folds): Folds =>
  withFold(folds, foldKey(turn), true)

/** The entries of the turn that an end belongs to. */
export function entriesOf(turn: TurnEntry, entries: readonly Entry[]): readonly Entry[] {
  const to = entries.lastIndexOf(turn)
  let from = to
  while (from > 0 && entries[from - 1]!.type !== 'turn') from--
  return entries.slice(from, to)
}

/** The place of a row after the density changed: its own, or that of what it is now folded into or unfolded to. */
export const indexNear = (rows: readonly Row[], key: string): number =>
  rows.findIndex((row) => {
    // The line of a turn ends in the key of its end, the line of a group in that of its first call.
    if (row.key === key || row.key === key.slice(1)) return true
    if (row.type === 'fold') return row.entries.some((entry) => entry.key === key)
    return row.type === 'group' && row.calls.some((call) => call.key === key)
  })
