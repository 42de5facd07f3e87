/** What a hook is, as a settings file has it, and how its matcher is read. */
import type { HookDraft, HookLogRow, HookOutcome } from '../types.gen'

/** A hook that does nothing yet. */
export const emptyDraft: HookDraft = {
  point: 'preToolUse',
  action: { kind: 'command', command: '' },
}

/** Leaves out what is not set, so that two equal drafts are written alike. */
export function tidy(draft: HookDraft): HookDraft {
  const { name, matcher, action, timeout, ...rest } = draft
  return {
    ...rest,
    ...(name?.trim() && { name: name.trim() }),
    ...(matcher?.trim() && { matcher: matcher.trim() }),
    ...(timeout && timeout > 0 && { timeout }),
    action: {
      ...action,
      command: action.command?.trim() || undefined,
      url: action.url?.trim() || undefined,
    },
  }
}

/** Whether a draft says what to run. */
export const isWhole = ({ action }: HookDraft): boolean =>
  Boolean(action.kind === 'http' ? action.url?.trim() : action.command?.trim())

/** The outcomes of a hook that ran to its end, or began to. */
const began: ReadonlySet<HookOutcome> = new Set([
  'ran',
  'failed',
  'timed_out',
  'interrupted',
  'started',
])

export const hasRun = ({ outcome }: Pick<HookLogRow, 'outcome'>): boolean => began.has(outcome)

/** What kept a hook from running, most frequent first, and how often it did run. */
export function tallyOf(rows: readonly HookLogRow[]): {
  ran: number
  causes: { row: HookLogRow; n: number }[]
} {
  const causes = new Map<string, { row: HookLogRow; n: number }>()
  let ran = 0
  for (const row of rows) {
    if (hasRun(row)) ran++
    else {
      const key = `${row.outcome} ${row.cause ?? ''} ${row.detail ?? ''}`
      const known = causes.get(key)
      if (known) known.n++
      else causes.set(key, { row, n: 1 })
    }
  }
  return { ran, causes: [...causes.values()].toSorted((a, b) => b.n - a.n) }
}

/** JSON with indents; anything else as it is. */
export function laidOut(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
