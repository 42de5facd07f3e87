/** What a provider says is left of a key's allowance. */
import type { Allowance, RateLimitReport } from '../types.gen'

/** Below this share an allowance is about to stop the work. */
const little = 0.1

/** The share that is left; an allowance is whole again from its reset on. */
export function left({ limit, remaining, reset_at: resetAt }: Allowance, now: number): number {
  if (limit <= 0 || (resetAt && resetAt <= now)) return 1
  return Math.min(1, Math.max(0, remaining / limit))
}

export const kinds = ['requests', 'tokens'] as const

/** The share of what runs out first; undefined where nothing was reported. */
export function scarcest({ limit }: RateLimitReport, now: number): number | undefined {
  const shares = kinds.flatMap((kind) => (limit[kind] ? [left(limit[kind], now)] : []))
  return shares.length > 0 ? Math.min(...shares) : undefined
}

export const isScarce = (share: number) => share < little

/** A share as a whole percentage that says nothing only of nothing. */
export const percentage = (share: number) =>
  share > 0 && share < 0.01 ? 1 : Math.floor(100 * share)
