/** A session's budget: how it is typed, and how much of it was spent. */
import type { Cost, Spending } from '../types.gen'

/** Dollars with at most four decimal places. Anything else is ambiguous, such as a comma. */
const amount = /^\$?\s*(\d{1,6}(?:\.\d{0,4})?|\.\d{1,4})$/

/** Parses a typed budget: undefined for no budget, null for an invalid amount. */
export function parseBudget(typed: string): Cost | undefined | null {
  const text = typed.trim()
  if (text === '') return undefined
  const match = amount.exec(text)
  if (!match) return null
  return Number(match[1]) || undefined
}

/** Formats a budget for its field: 5, 2.50, 0.125 */
export function budgetText(budget: Cost | undefined): string {
  if (!budget) return ''
  if (Number.isInteger(budget)) return String(budget)
  return budget.toFixed(4).replace(/0{1,2}$/, '')
}

export type Strain = 'calm' | 'near' | 'over'

/** A budget is nearly spent from 80 % on; the agent warns at the same share. */
export function strain(spent: Cost, budget: Cost): Strain {
  if (spent >= budget) return 'over'
  return spent >= 0.8 * budget ? 'near' : 'calm'
}

/** What was spent as far as it is known, as a share of the budget. */
export const shareSpent = (cost: Spending | undefined, budget: Cost): number =>
  Math.min(1, (cost?.usd ?? 0) / budget)
