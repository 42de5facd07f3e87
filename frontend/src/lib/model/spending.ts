/** Sums of what requests cost, and of their tokens. */
import { tokens } from './format'
import type { Cost, Spending, Usage } from '../types.gen'

/** The sum after one more request; without a cost it is one of unknown cost. */
export function spent(before: Spending | undefined, cost: Cost | undefined): Spending {
  const { usd = 0, unknown = 0 } = before ?? {}
  return cost === undefined ? { usd, unknown: unknown + 1 } : { usd: usd + cost, unknown }
}

/** Several sums as one; undefined where nothing was asked for yet. */
export function together(sums: readonly (Spending | undefined)[]): Spending | undefined {
  const made = sums.filter((sum) => sum !== undefined)
  if (made.length === 0) return undefined
  const add = (total: number, part: number | undefined) => total + (part ?? 0)
  return {
    usd: made.map((sum) => sum.usd).reduce(add, 0),
    unknown: made.map((sum) => sum.unknown).reduce(add, 0),
  }
}

/** Nothing was spent as far as is known, and everything is known. */
export const isFree = ({ usd, unknown }: Spending) => usd === 0 && !unknown

export const tokensIn = (usage: Usage) => usage.input + usage.cache_read + usage.cache_write

/** What the conversation holds after a request: all that was sent, and the answer. */
export const tokensHeld = (usage: Usage) => tokensIn(usage) + usage.output

/** A sum of tokens; with + where a provider did not report some of them. */
export function counted(count: number, usage: Usage): string {
  if (usage.known) return tokens(count)
  return count > 0 ? `${tokens(count)}+` : '–'
}

/** How much of the input came from the cache, as a whole percentage. */
export const cachedShare = (usage: Usage) =>
  Math.floor((100 * usage.cache_read) / Math.max(1, tokensIn(usage)))
