/** Formats numbers and times for display: short, and of stable width. */

/** 850 ms, 3.2 s, 4 m 05 s */
export function duration(ms: number, language: keyof typeof units = 'en'): string {
  const u = units[language]
  if (ms < 999.5) return `${Math.round(ms)} ${u.ms}`
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} ${u.s}`
  const seconds = Math.max(60, Math.floor(ms / 1000))
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} ${u.m} ${String(seconds % 60).padStart(2, '0')} ${u.s}`
  return `${Math.floor(minutes / 60)} ${u.h} ${String(minutes % 60).padStart(2, '0')} ${u.m}`
}

const units = {
  en: { ms: 'ms', s: 's', m: 'm', h: 'h' },
  'zh-CN': { ms: '毫秒', s: '秒', m: '分', h: '小时' },
  ja: { ms: 'ミリ秒', s: '秒', m: '分', h: '時間' },
  es: { ms: 'ms', s: 's', m: 'min', h: 'h' },
}

/** The units of a limit in words. */
const limitUnits = {
  en: { m: 'min', s: 's' },
  'zh-CN': { m: '分钟', s: '秒' },
  ja: { m: '分', s: '秒' },
  es: { m: 'min', s: 's' },
}

/** A limit in words: 45 s, 2 min, 1 min 30 s */
export function timeLimit(ms: number, language: keyof typeof limitUnits): string {
  const { m, s } = limitUnits[language]
  const seconds = Math.max(1, Math.round(ms / 1000))
  const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60]
  if (minutes === 0) return `${seconds} ${s}`
  return rest === 0 ? `${minutes} ${m}` : `${minutes} ${m} ${rest} ${s}`
}

/** The duration of something that still runs, in whole seconds: 4 s, not 4.2 s */
export const elapsed = (ms: number, language: keyof typeof units = 'en'): string =>
  ms < 60_000
    ? `${Math.floor(Math.max(0, ms) / 1000)} ${units[language].s}`
    : duration(ms, language)

/** 940, 12.4 k, 1.2 M */
export function tokens(count: number): string {
  if (count < 1000) return String(count)
  if (count < 999_950) return `${(count / 1000).toFixed(1)} k`
  return `${(count / 1_000_000).toFixed(1)} M`
}

/** A limit in tokens, which is usually a round number: 400 k, 1.5 M */
export const limit = (count: number) => tokens(count).replace('.0 ', ' ')

/** 12 B, 3.4 kB, 1.2 MB, 5.0 GB */
export function bytes(count: number): string {
  if (count < 1000) return `${count} B`
  if (count < 999_950) return `${(count / 1000).toFixed(1)} kB`
  if (count < 999_950_000) return `${(count / 1_000_000).toFixed(1)} MB`
  return `${(count / 1_000_000_000).toFixed(1)} GB`
}

/** $0.00, <$0.01, $1.24 */
export function dollars(amount: number): string {
  return amount > 0 && amount < 0.01 ? '<$0.01' : `$${amount.toFixed(2)}`
}

/** To a hundredth of a cent: $0.0037, <$0.0001 */
export function dollarsExact(amount: number): string {
  return amount > 0 && amount < 0.0001 ? '<$0.0001' : `$${amount.toFixed(4)}`
}

/** The price of a million tokens: $15.00, $0.075 */
export const price = (amount: number): string =>
  `$${amount.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 4, useGrouping: false })}`

/** How long ago something was, in a few characters: now, 5m, 3h, 2d, then a date */
export function ago(at: number, now: number, language: string): string {
  const [count, unit] = since(at, now)
  if (!unit) return date(at, language)
  if (count === 0) return relative(count, unit, language)
  const style = { style: 'unit', unit, unitDisplay: 'narrow' } as const
  return new Intl.NumberFormat(language, style).format(count)
}

/** When something was, as a part of a sentence: now, 5m ago, yesterday, then a date */
export function timeAgo(at: number, now: number, language: string): string {
  const [count, unit] = since(at, now)
  return unit ? relative(-count, unit, language) : date(at, language)
}

/** The largest whole unit of the time since then; none after a week. */
function since(at: number, now: number): [number, ('second' | 'minute' | 'hour' | 'day')?] {
  const minutes = Math.floor((now - at) / 60_000)
  if (minutes < 1) return [0, 'second']
  if (minutes < 60) return [minutes, 'minute']
  if (minutes < 24 * 60) return [Math.floor(minutes / 60), 'hour']
  return minutes < 7 * 24 * 60 ? [Math.floor(minutes / 1440), 'day'] : [0]
}

const relative = (count: number, unit: Intl.RelativeTimeFormatUnit, language: string) =>
  new Intl.RelativeTimeFormat(language, { style: 'narrow', numeric: 'auto' }).format(count, unit)

const date = (at: number, language: string) =>
  new Date(at).toLocaleDateString(language, { month: 'short', day: 'numeric' })

/** A day of the session list, or a month as the time at which it began. */
export type Age = 'today' | 'yesterday' | 'week' | number

/** The group of the session list that a time falls into. Weeks begin on Monday. */
export function age(at: number, now: number): Age {
  const midnight = new Date(now).setHours(0, 0, 0, 0)
  if (at >= midnight) return 'today'
  const daysAgo = (days: number) => {
    const day = new Date(midnight)
    return day.setDate(day.getDate() - days)
  }
  if (at >= daysAgo(1)) return 'yesterday'
  if (at >= daysAgo((new Date(now).getDay() + 6) % 7)) return 'week'
  const then = new Date(at)
  return new Date(then.getFullYear(), then.getMonth()).getTime()
}

/** The name of a month, with its year unless that is the current one: October, October 2025 */
export function month(at: number, now: number, language: string): string {
  const sameYear = new Date(at).getFullYear() === new Date(now).getFullYear()
  return new Date(at).toLocaleDateString(language, {
    month: 'long',
    ...(!sameYear && { year: 'numeric' }),
  })
}
