import type { TimeSpan } from '../types.gen'

/** A row of a turn's waterfall. Left and width are percent of the turn. */
type Row = TimeSpan & { depth: number; left: number; width: number; ms: number }

export type Turn = { span: TimeSpan; ms: number; rows: Row[]; waited: number; asked: number }

/** The turns of a session, the newest first, with what took their time. What has no end lasts until now. */
export function waterfall(spans: readonly TimeSpan[], now: number): Turn[] {
  const byId = new Map(spans.map((span) => [span.id, span]))
  const length = ({ start, end }: TimeSpan) => Math.max(0, (end ?? now) - start)
  const turns = new Map<number, Turn>()
  for (const span of spans) {
    if (span.kind === 'turn')
      turns.set(span.id, { span, ms: length(span), rows: [], waited: 0, asked: 0 })
  }
  for (const span of spans) {
    const parent = span.parent ? byId.get(span.parent) : undefined
    const nested = parent !== undefined && parent.kind !== 'turn'
    const turn = turns.get((nested ? parent.parent : span.parent) ?? 0)
    if (!turn || span.kind === 'turn') continue
    const ms = length(span)
    const whole = Math.max(1, turn.ms)
    const left = Math.min(99.5, Math.max(0, ((span.start - turn.span.start) / whole) * 100))
    const width = Math.max(0.5, Math.min(100 - left, (ms / whole) * 100))
    turn.rows.push({ ...span, depth: nested ? 1 : 0, left, width, ms })
    if (span.kind === 'wait') turn.waited += ms
    if (span.kind === 'request') turn.asked += ms
  }
  return [...turns.values()].reverse()
}
