/** Sums of the cost of requests and of their tokens. */
import { tokens } from './format'
import type { Cost, CostLine, ModelPrice, Spending, Usage } from '../types.gen'

/** Adds a request to a sum. A request without a cost counts as a request of unknown cost. */
export function spent(before: Spending | undefined, cost: Cost | undefined): Spending {
  const { usd = 0, unknown = 0 } = before ?? {}
  return cost === undefined ? { usd, unknown: unknown + 1 } : { usd: usd + cost, unknown }
}

/** Adds sums up; undefined if there was no request yet. */
export function together(sums: readonly (Spending | undefined)[]): Spending | undefined {
  const made = sums.filter((sum) => sum !== undefined)
  if (made.length === 0) return undefined
  const add = (total: number, part: number | undefined) => total + (part ?? 0)
  return {
    usd: made.map((sum) => sum.usd).reduce(add, 0),
    unknown: made.map((sum) => sum.unknown).reduce(add, 0),
  }
}

/** Whether nothing was spent and every request's cost is known. */
export const isFree = ({ usd, unknown }: Spending) => usd === 0 && !unknown

export const tokensIn = (usage: Usage) => usage.input + usage.cache_read + usage.cache_write

/** The tokens in the conversation after a request: everything that was sent, and the answer. */
export const tokensHeld = (usage: Usage) => tokensIn(usage) + usage.output

/** Formats a sum of tokens, with a + if a provider did not report all of them. */
export function counted(count: number, usage: Usage): string {
  if (usage.known) return tokens(count)
  return count > 0 ? `${tokens(count)}+` : '–'
}

/** The share of the input that came from the cache, as a whole percentage. */
export const cachedShare = (usage: Usage) =>
  Math.floor((100 * usage.cache_read) / Math.max(1, tokensIn(usage)))

/** What reading from the cache saved, in US dollars, as far as the models' prices are known. */
export const cacheSaving = (
  models: readonly CostLine[],
  priceOf: (line: CostLine) => ModelPrice | undefined,
): number =>
  models
    .map((line) => {
      const { input = 0, cache_read = input } = priceOf(line) ?? {}
      return (Math.max(0, input - cache_read) * line.usage.cache_read) / 1e6
    })
    .reduce((sum, part) => sum + part, 0)

/** The kinds of tokens that are counted apart. */
export type TokenKind = 'fresh' | 'cache_read' | 'cache_write' | 'output' | 'reasoning'

/** The tokens of each kind. What models think is part of what they write, and is counted apart here. */
export const tokenKinds = (usage: Usage): { kind: TokenKind; count: number }[] => [
  { kind: 'fresh', count: usage.input },
  { kind: 'cache_read', count: usage.cache_read },
  { kind: 'cache_write', count: usage.cache_write },
  { kind: 'output', count: Math.max(0, usage.output - usage.reasoning) },
  { kind: 'reasoning', count: usage.reasoning },
]

/** A bar of a chart: what was spent in a day or a turn, and its share of the highest. */
export type Bar = { line: CostLine; share: number }

/** The newest lines as bars, the oldest first. */
export function barsOf(lines: readonly CostLine[], most: number): Bar[] {
  const shown = lines.slice(0, most).toReversed()
  const highest = Math.max(...shown.map(({ cost }) => cost.usd))
  return shown.map((line) => ({ line, share: highest > 0 ? line.cost.usd / highest : 0 }))
}

/** The days with those between them on which nothing was asked, the newest first, as many as a chart has. */
export function everyDay(days: readonly CostLine[], most: number): CostLine[] {
  const [newest] = days
  if (!newest?.day) return []
  const known = new Map(days.map((line) => [line.day, line]))
  const oldest = days.at(-1)!.day!
  const all: CostLine[] = []
  for (let at = new Date(`${newest.day}T00:00:00Z`); all.length < most;) {
    const day = at.toISOString().slice(0, 10)
    if (day < oldest) break
    all.push(known.get(day) ?? { day, requests: 0, usage: noTokens, cost: { usd: 0 } })
    at = new Date(at.getTime() - 86_400_000)
  }
  return all
}

const noTokens: Usage = {
  ...{ input: 0, cache_read: 0, cache_write: 0, output: 0, reasoning: 0 },
  known: true,
}
