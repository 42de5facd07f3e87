/** Says in words what skills and commands are like. */
import { fill } from '../i18n/fill'
import { language } from '../i18n/i18n.svelte'
import { timeAgo, tokens } from '../model/format'
import type { SkillSource } from '../model/skills'
import { markHidden } from '../model/visible'
import type { SkillFinding, SkillLimits, SkillRow, SkillTemplate, SkillUsage } from '../types.gen'
import { findings, type FindingWords, unavailable } from './fromGo'
import { own } from './messages'

const nameOf = ({ name }: { name: string }): string => markHidden(name)

/** What the user types to use it. */
export const slashOf = (row: { name: string }): string => `/${nameOf(row)}`

export const sourceWords = (source: SkillSource): string => own(`source_${source}`)

/** Its state, with the reason if it cannot be used. */
export function stateWords({ state, others = [], usage }: SkillRow): string {
  if (state === 'hidden') return own('state_hidden', { file: markHidden(others[0] ?? '') })
  if (state === 'unavailable' && usage.why)
    return own('state_unavailable_why', { why: whyWords(usage.why) })
  return own(`state_${state}`)
}

function whyWords(why: string): string {
  const [pattern, words] = unavailable.find(([pattern]) => pattern.test(why)) ?? []
  const isKnown = language() === 'zh-CN' && pattern && words
  return markHidden(
    isKnown ? why.replace(pattern, (_, files: string) => fill(words, [files])) : why,
  )
}

export function whoWords({ by_user, by_model }: SkillUsage): string {
  if (by_user && by_model) return own('by_both')
  if (by_user) return own('by_user')
  return own(by_model ? 'by_model' : 'by_nobody')
}

/** When it was used last in this project, and how often. */
export function usedWords({ last, count }: SkillUsage, now: number): string {
  if (!last) return own('unused')
  const when = timeAgo(last, now, language())
  return count && count > 1 ? own('used_often', { when, n: count }) : own('used', { when })
}

export const weightWords = ({ weight }: SkillRow): string =>
  weight.listed > 0
    ? own('weight', { listed: tokens(weight.listed), body: tokens(weight.body) })
    : own('weight_body', { body: tokens(weight.body) })

/** What is worth knowing at a glance, one phrase each. */
export function factsOf(row: SkillRow, now: number): string[] {
  const { place, usage } = row
  const where = place.file ? [markHidden(place.file)] : []
  const used = usage.last ? [usedWords(usage, now)] : []
  return [whoWords(usage), ...where, weightWords(row), ...used]
}

/** What a skill that is in use limits, one sentence each. */
export function limitWords({
  limited,
  tools = [],
  approved = [],
  waits,
  denied = [],
  model,
  effort,
}: SkillLimits): string[] {
  const list = (names: readonly string[]) =>
    new Intl.ListFormat(language(), { type: 'conjunction' }).format(names.map(markHidden))
  return [
    !limited
      ? own('tools_all')
      : tools.length > 0
        ? own('tools_only', { tools: list(tools) })
        : own('tools_none'),
    approved.length > 0
      ? own(waits ? 'tools_approves' : 'tools_approved', { tools: list(approved) })
      : '',
    denied.length > 0 ? own('tools_denied', { tools: list(denied) }) : '',
    model ? own('model', { model: markHidden(model) }) : '',
    effort ? own('effort', { effort: markHidden(effort) }) : '',
  ].filter(Boolean)
}

/** What a finding says in the language of the page, which may not know its rule. */
export function findingWords(finding: SkillFinding): FindingWords {
  const { rule, args = [], title, message, fix = '' } = finding
  const keys = [`${rule}/${args.length}`, rule]
  const key = language() === 'zh-CN' && keys.find((key) => Object.hasOwn(findings, key))
  const said = key ? findings[key]! : { title: capitalised(title || rule), message, fix }
  const whole = (text: string) => markHidden(key ? fill(text, args) : text)
  return { title: whole(said.title), message: whole(said.message), fix: whole(said.fix) }
}

const capitalised = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1)

/** Where a finding is. */
export const placeWords = ({ file, line }: SkillFinding, inMain: boolean): string =>
  [inMain ? '' : markHidden(file), line ? own('line', { n: line }) : ''].filter(Boolean).join(' · ')

const templates = ['procedure', 'reader', 'script', 'prompt', 'lines'] as const

/** What a new skill can begin with. */
export function templateWords({ name }: SkillTemplate): string {
  const known = templates.find((id) => id === name)
  return known ? own(`template_${known}`) : markHidden(name)
}
