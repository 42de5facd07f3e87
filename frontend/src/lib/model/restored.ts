/** What was undone and redone in files, as the conversation shows it. */
import type { FilesRestored, UndoFile } from '../types.gen'
import type { Entry, NoticeEntry } from './entries'

type RestoredEntry = Extract<NoticeEntry, { notice: 'restored' }>

export const isRestored = (entry: Entry): entry is RestoredEntry =>
  entry.type === 'notice' && entry.notice === 'restored'

/** Whether what was undone came back completely, also in parts, so that it cannot be redone. */
export const isRedone = ({ id, files = [] }: FilesRestored, entries: readonly Entry[]): boolean => {
  const redos = entries.filter(isRestored).filter(({ restored }) => restored.redone === id)
  return (
    redos.length > 0 &&
    files.every(({ path }) => redos.some(({ restored }) => covers(restored, path)))
  )
}

const covers = (
  { conflicts = [], partly = [], paths = [] }: FilesRestored,
  path: string,
): boolean =>
  !conflicts.some((conflict) => conflict.path === path) &&
  !partly.includes(path) &&
  (paths.length === 0 || paths.includes(path))

/** The paths of the files that the user did not choose. */
export const leftOut = (
  files: readonly UndoFile[],
  chosen: ReadonlyMap<string, unknown>,
): ReadonlySet<string> => new Set(files.map(({ path }) => path).filter((path) => !chosen.has(path)))

/** The turn whose steps were undone; undefined if they are of several turns, or were not all read. */
export function turnUndone(
  { undone = [] }: FilesRestored,
  entries: readonly Entry[],
): number | undefined {
  const wanted = new Set(undone.map(({ call }) => call))
  const turns = new Set<number | undefined>()
  let turn: number | undefined
  for (let at = entries.length - 1; at >= 0 && wanted.size > 0; at--) {
    const entry = entries[at]!
    if (entry.type === 'turn') ({ turn } = entry)
    if (entry.type === 'tool' && wanted.delete(entry.callId)) turns.add(turn)
  }
  const [only] = turns
  return wanted.size === 0 && turns.size === 1 ? only : undefined
}
