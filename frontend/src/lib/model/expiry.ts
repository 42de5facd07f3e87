/** When a rule ends. */
export type Expiry = 'never' | 'today' | 'week' | 'date'
export const expiries: readonly Expiry[] = ['never', 'today', 'week', 'date']

const dayMs = 86_400_000

/**
 * The end of a rule in milliseconds since 1970, 0 for never. A day ends at its midnight, here where the
 * user is. It is undefined for a date that is invalid or has passed.
 */
export function expiresAt(choice: Expiry, date: string, now: number): number | undefined {
  switch (choice) {
    case 'never':
      return 0
    case 'today':
      return endOfDay(new Date(now))
    case 'week':
      return now + 7 * dayMs
    case 'date': {
      const [year, month, day] = date.split('-').map(Number)
      if (!year || !month || !day) return undefined
      const end = endOfDay(new Date(year, month - 1, day))
      return end > now ? end : undefined
    }
  }
}

const endOfDay = (day: Date) =>
  new Date(day.getFullYear(), day.getMonth(), day.getDate() + 1).getTime()
