/** Sums of the cost of requests and of their tokens. */
import { tokens } from './format'
import type { Cost, Spending, Usage } from '../types.gen'

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
