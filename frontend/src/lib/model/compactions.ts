/** How events change the compactions of a view. */
import { findOpen, replace, type Writable } from './change'
import type { CompactionEntry } from './entries'
import type { CompactionEnd, CompactionUndone } from '../types.gen'

export const openCompaction = (view: Writable) =>
  findOpen(
    view,
    (e): e is CompactionEntry => e.type === 'notice' && e.notice === 'compaction' && !e.end,
  )

/** Ends a compaction whose end could not be stored. Its token counts are unknown. */
export function stopCompaction(view: Writable): void {
  const open = openCompaction(view)
  if (!open) return
  const unknown = { tokens_before: 0, tokens_after: 0, duration_ms: 0 }
  replace(view, open, { end: { trigger: open.trigger, outcome: 'interrupted', ...unknown } })
}

/** Ends a compaction. Its start may be missing: a page of history may begin after it. */
export function finishCompaction(view: Writable, end: CompactionEnd, key: string): void {
  const open = openCompaction(view)
  if (open) replace(view, open, { end })
  else view.entries.push({ type: 'notice', notice: 'compaction', key, trigger: end.trigger, end })
  if (end.outcome === 'done') view.context = end.tokens_after
  if (end.trigger === 'manual') view.state = 'idle'
}

/** Says that a compaction was taken back. */
export function undoCompaction(view: Writable, { tokens }: CompactionUndone, key: string): void {
  const counts = { tokens_before: tokens, tokens_after: tokens, duration_ms: 0 }
  const end = { trigger: 'manual', outcome: 'done', ...counts } as const
  view.entries.push({
    type: 'notice',
    notice: 'compaction',
    key,
    trigger: 'manual',
    end,
    undone: true,
  })
  view.context = tokens
}
