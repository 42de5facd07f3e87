/** What a provider says is left of a key's allowance, in words. */
import { t } from '../i18n/i18n.svelte'
import type { Allowance, RateLimitReport } from '../types.gen'

/** Below this share an allowance is about to stop the work. */
const little = 0.1

/** The share that is left; an allowance is whole again from its reset on. */
export function left({ limit, remaining, reset_at: resetAt }: Allowance, now: number): number {
  if (limit <= 0 || (resetAt && resetAt <= now)) return 1
  return Math.min(1, Math.max(0, remaining / limit))
}

const kinds = ['requests', 'tokens'] as const

/** The share of what runs out first; undefined where nothing was reported. */
export function scarcest({ limit }: RateLimitReport, now: number): number | undefined {
  const shares = kinds.flatMap((kind) => (limit[kind] ? [left(limit[kind], now)] : []))
  return shares.length > 0 ? Math.min(...shares) : undefined
}

export const isScarce = (share: number) => share < little

/** A share as a whole percentage that says nothing only of nothing. */
export const percentage = (share: number) =>
  share > 0 && share < 0.01 ? 1 : Math.floor(100 * share)

/** Every number of a report, a line each, and when each is whole again. */
export function exactly({ limit }: RateLimitReport, now: number, language: string): string {
  return kinds
    .flatMap((kind) => {
      const allowance = limit[kind]
      if (!allowance) return []
      const whole = left(allowance, now) === 1
      const count = t(`allowance.${kind}`, {
        remaining: whole ? allowance.limit : Math.max(0, allowance.remaining),
        limit: allowance.limit,
      })
      if (whole || !allowance.reset_at) return [count]
      return [t('allowance.until', { count, time: moment(allowance.reset_at, now, language) })]
    })
    .join('\n')
}

/** A time of today, else with its day. */
function moment(at: number, now: number, language: string): string {
  const date = new Date(at)
  const time = { hour: 'numeric', minute: '2-digit', second: '2-digit' } as const
  if (date.toDateString() === new Date(now).toDateString()) {
    return date.toLocaleTimeString(language, time)
  }
  return date.toLocaleString(language, { month: 'short', day: 'numeric', ...time })
}
