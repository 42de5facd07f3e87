import { expect, test } from 'vitest'
import { expiresAt } from './expiry'

const now = new Date(2026, 10, 22, 23, 30).getTime()

test('a rule ends never, at midnight, in a week or at the end of a day', () => {
  expect(expiresAt('never', '', now)).toBe(0)
  expect(expiresAt('today', '', now)).toBe(new Date(2026, 10, 23).getTime())
  expect(expiresAt('week', '', now)! - now).toBe(7 * 86_400_000)
  expect(expiresAt('date', '2026-11-22', now)).toBe(new Date(2026, 10, 23).getTime())
  for (const date of ['', '2026-11', 'x', '2026-11-21'])
    expect(expiresAt('date', date, now)).toBeUndefined()
})
