/** Translates the problems, failures, warnings and repairs that Go reports in English. */
import type { Document, FailureID, HistoryRepaired, PictureChange, Warning } from '../types.gen'
import { withoutBidi } from '../model/visible'
import { fill } from './fill'
import { type Chinese, translation } from './i18n.svelte'
import type { Words } from './problems.zh-CN'

/** A problem from Go, or one without an id: from the page itself or from an older log. */
export type Problem = {
  id?: string
  args?: readonly string[]
  code?: string
  message: string
  kept?: string
  next?: string
  details?: string
}

/** Finds a translation. An entry of an older log has no id, and one of a newer Atelier may have an unknown id. */
function find<T>(
  table: (fromGo: Chinese['fromGo']) => Record<string, T>,
  id: string | undefined,
): T | undefined {
  const chinese = translation()
  const found = chinese && table(chinese.fromGo)
  return found && id && Object.hasOwn(found, id) ? found[id] : undefined
}

const keys = 'Choose another model, or check the provider in Settings → Keys.'

/** What to do about a failed request in this window. The agent's own sentences do not mention a window. */
const nextHere: Partial<Record<string, string>> = {
  provider_auth: 'Check the key in Settings → Keys, then try again.',
  provider_permission: keys,
  provider_not_found: keys,
  provider_config: keys,
  provider_unsupported: keys,
} satisfies Partial<Record<FailureID, string>>

/** A problem in the page's language. What it quotes does not reorder the rest. */
export function problemWords(problem: Problem): Problem {
  const words = translated(problem)
  const message = withoutBidi(words.message)
  return message === words.message ? words : { ...words, message }
}

function translated(problem: Problem): Problem {
  const chinese = translation()
  if (!chinese) {
    const here = problem.id && Object.hasOwn(nextHere, problem.id)
    return here ? { ...problem, next: nextHere[problem.id!] } : problem
  }
  const words: Words | undefined =
    find((fromGo) => fromGo.problems, problem.id) ?? find((fromGo) => fromGo.failures, problem.id)
  if (!words) return problem
  const { message, kept = chinese.fromGo.failureKept, next } = words
  const args = problem.id?.endsWith('_wait') ? withPause(problem.args) : problem.args
  return {
    ...problem,
    message: fill(message, args),
    kept: problem.kept && fill(kept, args),
    next: next && fill(next, args),
  }
}

const units = { h: ' 小时', m: ' 分', s: ' 秒' }

/** The arguments of a failure whose second one is a pause such as "1h1m40s", with the pause in Chinese. */
function withPause(args: readonly string[] = []): readonly string[] {
  return args.map((arg, i) =>
    i === 1
      ? arg
          .replace(
            /(\d+)([hms])(?=\d|$)/g,
            (_, n: string, unit: keyof typeof units) => ` ${n}${units[unit]}`,
          )
          .trim()
      : arg,
  )
}

/** A warning in the page's language. */
export function warningWords({ id, args, message }: Pick<Warning, 'id' | 'args' | 'message'>) {
  const sentence = find((fromGo) => fromGo.warnings, id)
  return withoutBidi(sentence ? fill(sentence, args).trim() : message)
}

/** Why a document was left out, in the page's language. */
export function documentWords({
  problem = '',
  problem_id: id,
  problem_args: args,
}: Document): string {
  const phrase = find((fromGo) => fromGo.documentProblems, id)
  return phrase ? fill(phrase, args) : problem
}

/** A repair of the conversation in the page's language. */
export function repairWords({ repair, args, message, pictures }: HistoryRepaired): string {
  const sentence = args && find((fromGo) => fromGo.repairs, repair)
  if (!sentence) return message
  return fill(sentence, pictures ? [args[0]!, pictures.map(pictureWords).join('；')] : args)
}

function pictureWords({ id, name, args }: PictureChange): string {
  return `${name ? `${name} ` : '一张图片'}${fill(find((fromGo) => fromGo.pictureChanges, id) ?? id, args)}`
}
