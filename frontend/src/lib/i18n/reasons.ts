/** Translates why a call needs approval. Go has the English sentences. */
import type { ApprovalRequest } from '../types.gen'
import { markHidden } from '../model/visible'
import { fill } from './fill'
import { translation } from './i18n.svelte'

type Reason = Pick<ApprovalRequest, 'reason' | 'reason_code' | 'reason_args'>

/** The reason of a request in the page's language, with hidden characters made visible. */
export function reasonWords({ reason, reason_code: code, reason_args: args = [] }: Reason): string {
  const chinese = translation()?.reasons
  if (!chinese || !code || !Object.hasOwn(chinese, code)) return markHidden(reason)
  return markHidden(fill(chinese[code], args))
}
