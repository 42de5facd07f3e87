/** Where the entries and rows of a conversation are in its log. */
import type { Entry } from './entries'
import type { Row } from './rows'

/** The event that an entry is named after, or with which it ended; undefined if it has none yet. */
export function seqOf(entry: Entry): number | undefined {
  if ('seq' in entry && entry.seq) return entry.seq
  const named = /^e(\d+)$/.exec(entry.key)
  return named ? Number(named[1]) : undefined
}

/**
 * An event of the first row from an index on that has one: the row's last event for a search backwards, and its
 * first one for a search forwards.
 */
export function seqFrom(rows: readonly Row[], index: number, back: boolean): number | undefined {
  for (const row of rows.slice(index)) {
    const seq = row.type === 'fold' || row.type === 'group' ? ofMany(row, back) : seqOf(row)
    if (seq !== undefined) return seq
  }
  return undefined
}

function ofMany(row: Extract<Row, { type: 'fold' | 'group' }>, back: boolean): number | undefined {
  const seqs = (row.type === 'fold' ? row.entries : row.calls)
    .map(seqOf)
    .filter((seq) => seq !== undefined)
  return back ? seqs.at(-1) : seqs[0]
}
