/** Says in words which rule or mode led to a question, and what cannot be remembered about it. */
import { sentences, t } from '../i18n/i18n.svelte'
import { markHidden } from '../model/visible'
import type { ApprovalRequest } from '../types.gen'
import { own } from './messages'

/** Empty if the reason says it already, as it does for hooks, or if an older log does not say it. */
export function ledWords({ by, mode, rule, final, each_time, access }: ApprovalRequest): string {
  const led = () => {
    if (rule) {
      const scope = own(`scope_${rule.scope}`)
      return own('led_rule', { rule: markHidden(rule.text), scope })
    }
    if (by === 'mode' && mode) return own('led_mode', { mode: t(`mode.${mode}`) })
    return by === 'callback' ? own('led_callback') : ''
  }
  const limit = each_time
    ? own('each_time')
    : final && !rule && !access.hosts?.length
      ? own('final')
      : ''
  return sentences(led(), limit)
}
