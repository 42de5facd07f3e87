/** Says in words what decided about a call. */
import { sentences, t } from '../i18n/i18n.svelte'
import { markHidden } from '../model/visible'
import type { Answer, Authority, HookSource, RuleRef, RuleWords, Scope } from '../types.gen'
import { own } from './messages'

/** The scope of a rule, and so how long it holds. */
export const scopeWords = (scope: Scope): string => own(`scope_${scope}`)

const named = ({ text, scope }: RuleRef) => ({ rule: markHidden(text), scope: scopeWords(scope) })

const hookNames = ({ name, file = '' }: HookSource) => ({
  hook: markHidden(name),
  file: markHidden(file),
})

/** What a rule is about, in a few words. */
export const meaningWords = ({ means, of = '' }: RuleWords): string =>
  own(`means_${means}`, { of: markHidden(of) })

/** What decided about a call, in a sentence; two if a rule asked. */
export function authorityWords(authority: Authority | undefined, answer?: Answer): string {
  if (!authority) return own('unrecorded')
  const { by, rule, mode, hook } = authority
  const decision = authority.decision === 'allow' ? 'allow' : 'deny'
  if (by !== 'person' && authority.approval) return own('by_nobody')
  if (by === 'rule' && rule) return own(`by_rule_${decision}`, named(rule))
  if (by === 'hook' && hook?.file) return own(`by_named_hook_${decision}`, hookNames(hook))
  if (by === 'hook' || by === 'callback') return own(`by_${by}_${decision}`)
  if (by === 'skill') return own('by_skill', { skill: markHidden(authority.args?.[0] ?? '') })
  if (authority.code === 'confined') return own('by_confinement')
  if (by !== 'person') return own(`by_mode_${decision}`, { mode: t(`mode.${mode}`) })
  if (!authority.approval) return own('by_person_earlier')
  const asker = rule
    ? own('asked_by_rule', named(rule))
    : hook?.file && own('asked_by_hook', hookNames(hook))
  return sentences(personWords(decision, answer), asker)
}

function personWords(decision: 'allow' | 'deny', answer: Answer | undefined): string {
  const { scope, rule } = answer ?? {}
  if (rule && scope && scope !== 'once') {
    return own(`by_person_${decision}_rule`, { rule: markHidden(rule), scope: scopeWords(scope) })
  }
  if (decision === 'deny' || !answer) return own(`by_person_${decision}`)
  return own(scope === 'session' ? 'by_person_allow_session' : 'by_person_allow_once')
}
