/** Changed files and comments on their lines. */
import type { Side } from './diff'
import type { Entry, ToolEntry } from './entries'
import type { ChangedFile, ChangeScope, Event, FileState, Staged } from '../types.gen'

export const scopes: readonly ChangeScope[] = ['session', 'turn', 'uncommitted', 'branch']

/** The scopes of a session's own edits, which need a session but not git. */
export const isOfSession = (scope: ChangeScope): boolean => scope === 'session' || scope === 'turn'

/** The letter of a state, as git prints it. */
export const letters: Record<FileState, string> = {
  added: 'A',
  modified: 'M',
  deleted: 'D',
  renamed: 'R',
  untracked: 'U',
  conflicted: '!',
  link: 'L',
  submodule: 'S',
}

/** A path in its parts: the name, and the folder with its last slash. */
export function splitPath(path: string): { folder: string; name: string } {
  const end = path.replace(/\/$/, '').lastIndexOf('/') + 1
  return { folder: path.slice(0, end), name: path.slice(end) }
}

/** The paths of files of which only a part is staged: they are listed twice. */
export function partlyStaged(files: readonly ChangedFile[]): ReadonlySet<string> {
  const of = (group: Staged) =>
    files.filter(({ staged }) => staged === group).map(({ path }) => path)
  const rest = new Set(of('none'))
  return new Set(of('all').filter((path) => rest.has(path)))
}

/** Whether the file can be opened: it is there, and it is one. */
export const canOpen = ({ state }: ChangedFile): boolean =>
  state !== 'deleted' && state !== 'submodule'

/** The files that a call changed: what the log records of it or, in an older log, what its edit says. */
export function changedBy({ files, status, details }: ToolEntry): readonly string[] {
  if (files) return files
  return status === 'done' ? (details?.changes?.map(({ path }) => path) ?? []) : []
}

/** Whether a call among the entries has changed files. */
export const changesFiles = (entries: readonly Entry[]): boolean =>
  entries.some((entry) => entry.type === 'tool' && changedBy(entry).length > 0)

/** Whether an event says that files were changed. */
export const changesOnDisk = (event: Event): boolean =>
  event.kind === 'tool_call_end'
    ? Boolean(event.data.files ?? event.data.details?.changes?.length)
    : (event.kind === 'hook_end' || event.kind === 'local_command_end') && Boolean(event.data.files)

/** What the user says about a line. */
export type Comment = {
  path: string
  line: number
  side: Side
  /** The line as it was shown. */
  quote: string
  text: string
}

export const isAt = (comment: Comment, path: string, line: number, side: Side): boolean =>
  comment.path === path && comment.line === line && comment.side === side

/** A quoted line is cut here. */
const longestQuote = 200

/** One message of all comments, each with its place and the line that it is about. */
export function messageOf(
  comments: readonly Comment[],
  words: { intro: string; removed: string },
): string {
  const parts = comments.map(({ path, line, side, quote, text }) => {
    const place = `${path}:${line}${side === 'old' ? ` (${words.removed})` : ''}`
    const cut = quote.length > longestQuote ? `${quote.slice(0, longestQuote)}…` : quote
    return `${place}\n> ${cut.trim()}\n${text.trim()}`
  })
  return [words.intro, ...parts].join('\n\n')
}
