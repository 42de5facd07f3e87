/** What the search over all sessions found, as the page shows it. */
import type { Found, FoundSession, Hit, SearchHit, SearchHyphen } from '../types.gen'

/** How many hits of a session are shown, unless it alone is searched. */
const perSession = 5

/** What has a hit, by which it is named. */
export type HitName =
  | 'title'
  | 'prompt'
  | 'answer'
  | 'thinking'
  | 'summary'
  | 'command'
  | 'printed'
  | 'input'
  | 'output'

export function nameOf({ kind, part, tool }: SearchHit): HitName {
  if (kind === 'title') return 'title'
  if (kind === 'compaction_end') return 'summary'
  if (part === 'thinking') return part
  if (kind === 'user_input') return 'prompt'
  if (part !== 'message' && !tool) return part === 'input' ? 'command' : 'printed'
  if (part !== 'message') return part
  return kind === 'assistant_text_end' ? 'answer' : 'prompt'
}

export type SnippetPiece = { text: string; marked: boolean }

/** A snippet in pieces, of which some are marked. */
export function piecesOf({ snippet, marks = [] }: SearchHit): SnippetPiece[] {
  const pieces: SnippetPiece[] = []
  let at = 0
  for (const { from, to } of marks) {
    if (from > at) pieces.push({ text: snippet.slice(at, from), marked: false })
    pieces.push({ text: snippet.slice(from, to), marked: true })
    at = to
  }
  if (at < snippet.length) pieces.push({ text: snippet.slice(at), marked: false })
  return pieces
}

/** The places of a hit in its entry, as the search in a conversation has them. The first one is gone to. */
export function placesIn({ seq, kind, part, of, snippet, places = 1 }: SearchHit): Hit[] {
  return Array.from({ length: Math.max(1, places) }, (_, nth) => ({
    seq,
    kind,
    part,
    nth,
    snippet,
    ...(of ? { of } : {}),
  }))
}

/** Adds a later part of what was found. */
export function withMore(sessions: readonly FoundSession[], more: Found): FoundSession[] {
  const all = [...sessions]
  for (const next of more.sessions ?? []) {
    const at = all.findIndex(({ session }) => session === next.session)
    if (at < 0) {
      all.push(next)
      continue
    }
    const known = all[at]!
    const hits = [...(known.hits ?? []), ...(next.hits ?? [])]
    all[at] = { ...known, hits, more: Boolean(known.more || next.more) }
  }
  return all
}

/** A query without one of its filters. */
export const withoutFilter = (text: string, raw: string): string =>
  text.replace(raw, ' ').replace(/\s+/g, ' ').trim()

/**
 * The words after a hyphen that the user is told about: those that are excluded, and those that are looked for
 * as they stand when nothing was found.
 */
export const toldHyphens = (
  text: string,
  hyphens: readonly SearchHyphen[],
  hits: number,
): readonly SearchHyphen[] =>
  hyphens.filter(({ raw, excluded }) => raw && text.includes(raw) && (excluded || hits === 0))

/** A query to which a filter is added, whose value is then typed. */
export const withFilter = (text: string, name: string): string =>
  `${text.trim()}${text.trim() && ' '}${name}:`

export const countHits = (sessions: readonly FoundSession[]): number =>
  sessions.reduce((sum, { hits = [] }) => sum + hits.length, 0)

/** The hits of a session that are shown, and whether there are more. */
export function shownHits(
  { hits = [], more = false }: FoundSession,
  isAlone: boolean,
): { hits: readonly SearchHit[]; rest: boolean } {
  if (isAlone) return { hits, rest: false }
  return { hits: hits.slice(0, perSession), rest: more || hits.length > perSession }
}
