/** Who wrote the lines of a file. */
import type { BlameReply, BlameRun, BlameStep } from '../types.gen'

/** The run that a line belongs to; undefined if nothing is known of the line. */
export function runAt(runs: readonly BlameRun[], line: number): BlameRun | undefined {
  let [from, to] = [0, runs.length - 1]
  while (from <= to) {
    const middle = (from + to) >> 1
    const run = runs[middle]!
    if (line < run.from) to = middle - 1
    else if (line > run.to) from = middle + 1
    else return run
  }
  return undefined
}

/** The step that wrote a run; undefined if no step did. */
export const stepOf = ({ steps }: BlameReply, run: BlameRun): BlameStep | undefined =>
  run.by === 'step' ? steps?.[run.step ?? 0] : undefined

/** How sessions are told apart: each by its place among those that wrote the file. */
export function sessionsOf({ steps = [] }: BlameReply): ReadonlyMap<string, number> {
  const places = new Map<string, number>()
  for (const { session } of steps) if (!places.has(session)) places.set(session, places.size)
  return places
}

const others = { earlier: '·', outside: '✎', unknown: '?' }

/** The letter of the session at a place. */
export const letterOf = (place: number): string =>
  String.fromCharCode(65 + (place % 26)) + (place < 26 ? '' : `${Math.floor(place / 26)}.`)

/** A run in a few characters: the letter of its session with its turn, or what else wrote it. */
export function markOf(reply: BlameReply, run: BlameRun, sessions: ReadonlyMap<string, number>) {
  if (run.by !== 'step') return others[run.by]
  const step = stepOf(reply, run)
  const place = sessions.get(step?.session ?? '') ?? 0
  const letter = letterOf(place)
  const what = { local_command_end: '$', files_restored: '↶' }[step?.kind as string]
  return letter + (what ?? step?.turn ?? '') + (run.unsure ? '?' : '')
}
