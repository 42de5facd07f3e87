/** What Go says of failures and the like, where the page does not speak English. */
import type { FailureID, HistoryRepaired, Warning } from '../types.gen'
import { fill } from './fill'
import { language } from './i18n.svelte'
import { failureKept, failures, problems, repairs, warnings, type Words } from './problems.zh-CN'

/** A failure of Go's, or, without an id, one of the page's own or of an older log. */
export type Problem = {
  id?: string
  args?: readonly string[]
  code?: string
  message: string
  kept?: string
  next?: string
  details?: string
}

/** An older log has no id; that of a newer Atelier may have one that nothing is known of. */
const find = <T>(table: Record<string, T>, id: string | undefined): T | undefined =>
  language() !== 'en' && id && Object.hasOwn(table, id) ? table[id] : undefined

const keys = 'Choose another model, or check the provider in Settings → Keys.'

/** What to do in this window about a request that failed. The agent's own words know of no window. */
const nextHere: Partial<Record<string, string>> = {
  provider_auth: 'Check the key in Settings → Keys, then try again.',
  provider_permission: keys,
  provider_not_found: keys,
  provider_config: keys,
  provider_unsupported: keys,
} satisfies Partial<Record<FailureID, string>>

/** A failure in the page's language. */
export function problemWords(problem: Problem): Problem {
  if (language() === 'en') {
    const here = problem.id && Object.hasOwn(nextHere, problem.id)
    return here ? { ...problem, next: nextHere[problem.id!] } : problem
  }
  const words: Words | undefined = find(problems, problem.id) ?? find(failures, problem.id)
  if (!words) return problem
  const { message, kept = failureKept, next } = words
  return {
    ...problem,
    message: fill(message, problem.args),
    kept: problem.kept && fill(kept, problem.args),
    next: next && fill(next, problem.args),
  }
}

/** A warning in the page's language. */
export function warningWords({ id, args, message }: Pick<Warning, 'id' | 'args' | 'message'>) {
  const sentence = find(warnings, id)
  return sentence ? fill(sentence, args).trim() : message
}

/** What became of a conversation that had to be repaired, in the page's language. */
export function repairWords({ repair, args, message }: HistoryRepaired): string {
  const sentence = args && find(repairs, repair)
  return sentence ? fill(sentence, args) : message
}
