/** Says in words what hooks did. */
import { fill } from '../i18n/fill'
import { language, tookWords } from '../i18n/i18n.svelte'
import { hasRun } from '../model/hooks'
import { markHidden } from '../model/visible'
import type { HookDraft, HookFinding, HookLogRow, HookPoint, HookRow, Scope } from '../types.gen'
import { findings } from './findings'
import { own } from './messages'

/** The name of a hook, else its command. */
export function nameOf({ name, action }: HookDraft): string {
  const text = name || action.command || action.url || ''
  return markHidden(text.replace(/\s+/g, ' '))
}

export const titleOf = ({ draft }: HookRow): string => nameOf(draft)

/** What becomes of what a hook could have stopped and did not; undefined if it could not. */
const passed: Partial<Record<HookPoint, () => string>> = {
  preToolUse: () => own('left_call'),
  permissionRequest: () => own('left_request'),
  userPromptSubmit: () => own('left_rest'),
  stop: () => own('left_rest'),
  subagentStop: () => own('left_rest'),
  preCompact: () => own('left_rest'),
  worktreeCreate: () => own('left_rest'),
}

/** What an answer did, one phrase each; none if it did nothing. */
function effectsOf({ effect, place }: HookLogRow): string[] {
  const { decision, reason } = effect
  const why = markHidden(reason ?? '')
  const effects: [unknown, () => string][] = [
    [decision, () => (why ? own(`did_${decision!}_why`, { why }) : own(`did_${decision!}`))],
    [!decision && !effect.stopped && passed[place.point], () => passed[place.point]!()],
    [effect.input, () => own('did_change')],
    [effect.output, () => own('did_output')],
    [effect.stopped, () => own('did_stop')],
    [effect.context, () => own('did_tell')],
    [effect.said || effect.message, () => own('did_say')],
    [effect.notice, () => own('did_notice')],
    [effect.title, () => own('did_title')],
    [effect.rule, () => own('did_rule')],
  ]
  return effects.filter(([did]) => did).map(([, words]) => words())
}

/** The outcome of a hook that was considered, in words. */
export function outcomeWords(row: HookLogRow): string {
  const { outcome, cause } = row
  if (outcome === 'ran') {
    const effects = effectsOf(row)
    return effects.length > 0 ? effects.join(' · ') : own('ran')
  }
  const why =
    (outcome === 'failed' || outcome === 'not_matched') && cause
      ? own(`${outcome}_why`, { why: causeWords(row) })
      : own(outcome)
  return endedBadly(row) ? [why, ...effectsOf(row)].join(' · ') : why
}

/** Why a hook failed, or was not matched. */
function causeWords({ cause, detail, hook }: HookLogRow): string {
  if (!cause) return ''
  const values = { detail: markHidden(detail ?? ''), matcher: markHidden(hook.matcher ?? '') }
  return own(`cause_${cause}`, values)
}

/** How long it took; empty if it did not run. */
export const timeOf = (row: HookLogRow): string => (hasRun(row) ? tookWords(row.duration_ms) : '')

const endedBadly = ({ outcome }: HookLogRow) => outcome === 'failed' || outcome === 'timed_out'

/** Whether what happened should catch the eye. */
export const isGrave = (row: HookLogRow): boolean =>
  endedBadly(row) || row.effect.decision === 'deny'

/** Findings in words, for a list of them. */
export const foundIn = (list: readonly HookFinding[] = []) =>
  list.map((finding) => ({ words: findingWords(finding), line: finding.line }))

function findingWords({ id, args, message }: HookFinding): string {
  const isKnown = language() === 'zh-CN' && Object.hasOwn(findings, id)
  return markHidden(isKnown ? fill(findings[id]!, args) : message)
}

/** Whom hooks of a scope are for. */
export const scopeWords = (scope: Scope): string =>
  own(scope === 'once' ? 'scope_session' : `scope_${scope}`)
