/** Says in words what holds while a skill is in use. */
import { language } from '../i18n/i18n.svelte'
import { limitsOf } from '../model/skillUse'
import { markHidden } from '../model/visible'
import type { SkillUse } from '../types.gen'
import { own } from './messages'

/** How many tools are named, and how much of a name is shown: a stranger may have written them. */
const most = 12
const longest = 80

function list(tools: readonly string[]): string {
  const names = tools.slice(0, most).map((name) => markHidden(name).slice(0, longest))
  if (tools.length > most) names.push(own('more_tools', { n: tools.length - most }))
  return new Intl.ListFormat(language(), { type: 'unit', style: 'short' }).format(names)
}

/** What a skill allows, and which model answers meanwhile, a phrase each; empty if everything is as usual. */
export function limitPhrases(use: SkillUse): string[] {
  const { allows, tools } = limitsOf(use)
  return [
    allows === 'all' ? '' : own(`skill_${allows}`, { tools: list(tools) }),
    use.approved?.length ? own('skill_approves', { tools: list(use.approved) }) : '',
    use.model ? own('skill_model', { model: markHidden(use.model) }) : '',
  ].filter(Boolean)
}
