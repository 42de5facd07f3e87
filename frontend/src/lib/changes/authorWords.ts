/** Who wrote a run of lines, in words. */
import { t } from '../i18n/i18n.svelte'
import { stepOf } from '../model/blame'
import { dollarsExact } from '../model/format'
import { markHidden } from '../model/visible'
import type { Authority, BlameReply, BlameRun, BlameStep } from '../types.gen'
import { own } from './messages'

export const titleOf = ({ title }: BlameStep) => markHidden(title) || own('author_untitled')

export function authorOf(reply: BlameReply, run: BlameRun): string {
  const step = stepOf(reply, run)
  if (!step) return own(run.by === 'step' ? 'author_unknown' : `author_${run.by}`)
  const title = titleOf(step)
  if (step.kind === 'local_command_end') return own('author_command', { title })
  if (step.kind === 'files_restored') return own('author_restored', { title })
  const model = markHidden(step.made.model ?? '?')
  return own('author_step', { title, turn: String(step.turn ?? '?'), model })
}

function allowedBy({ by, rule, mode }: Authority): string {
  if (by === 'rule' && rule) return own('author_by_rule', { rule: rule.text })
  if (by === 'mode') return own('author_by_mode', { mode: t(`mode.${mode}`) })
  return own(`author_by_${by}`, { rule: '' })
}

function costOf({ made: { cost } }: BlameStep): string {
  if (!cost) return ''
  if (!cost.unknown) return dollarsExact(cost.usd)
  return cost.usd > 0
    ? own('author_cost_more', { cost: dollarsExact(cost.usd) })
    : own('author_cost_unknown')
}

export function factsOf(step: BlameStep, language: string): [name: string, value: string][] {
  const { made, authority, turn, kind, at } = step
  const isCommand = kind === 'local_command_end'
  const model = [made.provider, made.model].filter(Boolean).join(' / ')
  return [
    [own(isCommand ? 'author_ran' : 'author_prompt'), made.prompt ?? ''],
    [own('author_turn'), turn ? String(turn) : ''],
    [own('author_model'), model],
    [own('author_cost'), costOf(step)],
    [own('author_at'), new Date(at).toLocaleString(language)],
    [own('author_allowed'), authority ? allowedBy(authority) : ''],
  ]
}
