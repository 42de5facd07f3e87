/** The action that forks the session at a message. */
import GitBranchPlus from '@lucide/svelte/icons/git-branch-plus'
import type { Action } from './action'
import { own } from './messages'

/** At a prompt the fork ends before it, at an answer after the results of its calls. */
export const fork: Action = {
  name: 'fork',
  key: 'f',
  icon: GitBranchPlus,
  label: () => own('fork'),
  offers: ({ row, isNested }) =>
    !isNested && (row.type === 'prompt' || row.type === 'answer') && row.seq !== undefined,
  run({ row, conversation }, host) {
    if ((row.type === 'prompt' || row.type === 'answer') && row.seq !== undefined)
      host.fork({ session: conversation.id, event: row.seq })
    return Promise.resolve(undefined)
  },
}
