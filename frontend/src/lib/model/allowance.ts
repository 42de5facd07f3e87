/** How much of a key's allowance is left, as its provider reports it. */
import type { Allowance, RateLimitReport } from '../types.gen'

/** Below this share the allowance will soon run out. */
const scarceBelow = 0.1

/** The share that is left. After its reset an allowance is full again. */
export function left({ limit, remaining, reset_at: resetAt }: Allowance, now: number): number {
  if (limit <= 0 || (resetAt && resetAt <= now)) return 1
  return Math.min(1, Math.max(0, remaining / limit))
}

export const kinds = ['requests', 'tokens'] as const

/** The share of the allowance that runs out first; undefined if nothing was reported. */
export function scarcest({ limit }: RateLimitReport, now: number): number | undefined {
  const shares = kinds.flatMap((kind) => (limit[kind] ? [left(limit[kind], now)] : []))
  return shares.length > 0 ? Math.min(...shares) : undefined
}

export const isScarce = (share: number) => share < scarceBelow

/** A share as a whole percentage, which is 0 only if nothing is left. */
export const percentage = (share: number) =>
  share > 0 && share < 0.01 ? 1 : Math.floor(100 * share)
