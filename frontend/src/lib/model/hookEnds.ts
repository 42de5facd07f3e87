import { findCall } from './calls'
import { replace, type Writable } from './change'
import type { HookEnd } from '../types.gen'

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
