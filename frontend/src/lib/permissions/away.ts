/** Says what ran without asking while nobody looked. */
import { language, sentences } from '../i18n/i18n.svelte'
import { spending } from '../cost/words'
import { markHidden } from '../model/visible'
import type { Absence } from '../types.gen'
import { own } from './messages'

/** 1 h 12 m, 4 m: an absence is not measured in seconds. */
export function awayFor(ms: number): string {
  const minutes = Math.max(1, Math.round(ms / 60_000))
  return minutes < 60
    ? `${minutes} m`
    : `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} m`
}

/** What ran, in sentences; waits counts the questions that are open now. */
export function awayWords(absence: Absence, waits: number): string {
  const { commands = 0, edits = 0, others = 0, outside = [], more = 0, cost } = absence
  const kinds = [
    commands && own('commands', { n: commands }),
    edits && own('edits', { n: edits }),
    others && own('others', { n: others }),
  ].filter((words) => typeof words === 'string')
  const what = new Intl.ListFormat(language(), { type: 'conjunction' }).format(kinds)
  const rules = (absence.by ?? []).flatMap(({ rule, calls }) =>
    rule ? [own('by_your_rule', { n: calls, rule: markHidden(rule.text) })] : [],
  )
  const touched = outside.length + more
  return sentences(
    own(absence.at_least ? 'ran_at_least' : 'ran_unasked', { what }),
    ...rules.slice(0, 2),
    touched > 0 ? own('outside', { n: touched }) : '',
    cost && (cost.usd > 0 || cost.unknown) ? own('cost', { cost: spending(cost) }) : '',
    waits > 0 ? own('waits', { n: waits }) : '',
  )
}
