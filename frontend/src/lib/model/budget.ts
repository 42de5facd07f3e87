/** A session's budget: how it is typed, and how much of it is spent. */
import type { Cost, Spending } from '../types.gen'

/** Dollars with at most four places; anything else, a comma too, could be meant otherwise. */
const amount = /^\$?\s*(\d{1,6}(?:\.\d{0,4})?|\.\d{1,4})$/

/** The typed budget: undefined for none, null for an invalid amount. */
export function parseBudget(typed: string): Cost | undefined | null {
  const text = typed.trim()
  if (text === '') return undefined
  const match = amount.exec(text)
  if (!match) return null
  return Number(match[1]) || undefined
}

/** A budget as its field shows it: 5, 2.50, 0.125 */
export function budgetText(budget: Cost | undefined): string {
  if (!budget) return ''
  if (Number.isInteger(budget)) return String(budget)
  return budget.toFixed(4).replace(/0{1,2}$/, '')
}

export type Strain = 'calm' | 'near' | 'over'

/** From four fifths on a budget is near its end, as the agent warns of it too. */
export function strain(spent: Cost, budget: Cost): Strain {
  if (spent >= budget) return 'over'
  return spent >= 0.8 * budget ? 'near' : 'calm'
}

/** The known part of what was spent, as a share of the budget. */
export const shareSpent = (cost: Spending | undefined, budget: Cost): number =>
  Math.min(1, (cost?.usd ?? 0) / budget)
