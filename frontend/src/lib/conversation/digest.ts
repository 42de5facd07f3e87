/** What a turn or a group of calls did, in words. */
import type { Digest } from '../model/digest'
import { own } from './messages'

/** 6 read, 2 changed: everything but how tests ended. */
export function turnWords(digest: Digest, isDone: boolean): string {
  const { read, searched, changed, ran, agents, asked, served, other, failed, denied } = digest
  const words = [
    read > 0 && own('turn_read', { n: read }),
    searched > 0 && own('turn_searched', { n: searched }),
    changed > 0 && own('turn_changed', { n: changed }),
    ran > 0 && own('turn_ran', { n: ran }),
    agents > 0 && own('turn_agents', { n: agents }),
    served > 0 && own('turn_served', { n: served }),
    other > 0 && own('turn_other', { n: other }),
    asked > 0 && own('turn_asked', { n: asked }),
    failed > 0 && own('turn_failed', { n: failed }),
    denied > 0 && own('turn_denied', { n: denied }),
  ]
  return joined(words) || (digest.tests ? '' : own(isDone ? 'turn_nothing' : 'turn_unfinished'))
}

/** Read 4, searched 2, ran 1: everything but how tests ended. */
export function groupWords(digest: Digest): string {
  const { read, searched, ran, served, other, failed } = digest
  const words = [
    read > 0 && own('group_read', { n: read }),
    searched > 0 && own('group_searched', { n: searched }),
    ran > 0 && own('group_ran', { n: ran }),
    served > 0 && own('group_served', { n: served }),
    other > 0 && own('group_other', { n: other }),
    failed > 0 && own('group_failed', { n: failed }),
  ]
  const text = joined(words)
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const joined = (words: readonly (string | false | undefined)[]) =>
  words.filter(Boolean).join(own('comma'))
