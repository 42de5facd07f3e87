/** What fills a context, for the bar and the table. */
import type { ContextBreakdown, ContextKind } from '../types.gen'

export type Slice = { kind: ContextKind | 'reserved' | 'free'; tokens: number; share: number }

/**
 * The parts of a context and the free part of the window, as shares of the window, or of the context if the
 * window is unknown. The reserved part shrinks if the context has grown into it.
 */
export function slices({ parts = [], window = 0, reserved = 0 }: ContextBreakdown): Slice[] {
  const whole = parts.reduce((sum, part) => sum + part.tokens, 0)
  const left = Math.max(0, window - whole)
  const kept = Math.min(reserved, left)
  const all = [
    ...parts,
    { kind: 'free' as const, tokens: left - kept },
    { kind: 'reserved' as const, tokens: kept },
  ]
  const of = Math.max(window, whole)
  return all
    .filter(({ tokens }) => tokens > 0)
    .map((part) => ({ ...part, share: part.tokens / of }))
}
