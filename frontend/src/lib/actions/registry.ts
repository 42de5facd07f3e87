import type { Action, Target } from './action'
import { copy, copyMarkdown, copyOutput } from './copying'
import { fork } from './forking'
import { edit, retry } from './resending'
import { rewind, undo } from './undoing'

/** The actions on rows, in the order of their buttons. A new action is a line here. */
export const actions: readonly Action[] = [
  copy,
  copyMarkdown,
  copyOutput,
  edit,
  retry,
  fork,
  undo,
  rewind,
]

export const offeredFor = (target: Target): readonly Action[] =>
  actions.filter((action) => action.offers(target))
