import { findCall } from './calls'
import { findOpen, replace, type Writable } from './change'
import type { NoticeEntry } from './entries'
import type { HookEnd, Warning } from '../types.gen'

type HookNoticeEntry = Extract<NoticeEntry, { notice: 'hook' }>

/**
 * A hook has ended. What it did to a call belongs to that call; anything else, and what it says to the user,
 * is an entry of its own. A hook that did nothing is in the log of hooks only.
 */
export function endHook(view: Writable, hook: HookEnd, key: string): void {
  const { failed, stopped, decision, message, input, said, notice } = hook
  if (!failed && !stopped && !decision && !message && !input && !said && !notice) return
  const call = hook.call_id ? findCall(view, hook.call_id) : undefined
  if (call) replace(view, call, { hooks: [...(call.hooks ?? []), hook] })
  if (!call || notice || said) view.entries.push({ type: 'notice', notice: 'hook', key, hook })
}

/** Whether the hook refused a message of the user. */
export const refuses = ({ point, decision, failed, stopped }: HookEnd): boolean =>
  point === 'userPromptSubmit' && decision === 'deny' && !failed && !stopped

/** Whether a warning only repeats what the notice of a hook says. */
export const repeatsHook = (view: Writable, { id }: Warning): boolean =>
  id === 'prompt_refused' &&
  findOpen(
    view,
    (entry): entry is HookNoticeEntry =>
      entry.type === 'notice' && entry.notice === 'hook' && refuses(entry.hook),
  ) !== undefined

/** Whether a note to the agent has what the hook said. */
export const tells = (note: string, { message }: HookEnd): boolean =>
  Boolean(message) && note.includes(message!)
