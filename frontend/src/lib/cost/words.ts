/** Costs and allowances in words. An unknown cost is never shown as zero. */
import { listed, t } from '../i18n/i18n.svelte'
import { kinds, left } from '../model/allowance'
import { dollars, dollarsExact } from '../model/format'
import type { CostLine, RateLimitReport, Spending } from '../types.gen'

/** $0.37; $0.37+ if a part of the cost is unknown; words if all of it is. */
export function spending({ usd, unknown = 0 }: Spending): string {
  if (unknown === 0) return dollars(usd)
  return usd > 0 ? `${dollars(usd)}+` : t('cost.unknown')
}

/** The sum to a hundredth of a cent, and the number of requests of unknown cost. */
export function spendingExact({ usd, unknown = 0 }: Spending): string {
  if (unknown === 0) return dollarsExact(usd)
  const missing = t('cost.unpriced', { n: unknown })
  return usd > 0 ? `${dollarsExact(usd)} · ${missing}` : missing
}

/** The models with requests of unknown cost; if there are several, each with the number of its requests. */
export function unpriced(models: readonly CostLine[] = []): string {
  const lines = models.filter((line) => line.cost.unknown)
  if (lines.length === 1) return lines[0]?.model ?? ''
  return listed(
    lines.map((line) =>
      t('cost.unpriced_model', { model: line.model ?? '', n: line.cost.unknown ?? 0 }),
    ),
  )
}

/** All numbers of a report, one per line, with the times of their resets. */
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

/** The time of day, with the date if it is not today. */
function moment(at: number, now: number, language: string): string {
  const date = new Date(at)
  const time = { hour: 'numeric', minute: '2-digit', second: '2-digit' } as const
  if (date.toDateString() === new Date(now).toDateString()) {
    return date.toLocaleTimeString(language, time)
  }
  return date.toLocaleString(language, { month: 'short', day: 'numeric', ...time })
}
