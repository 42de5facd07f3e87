/** What is announced while the page is not in front, and what the page's title says. */
import type { EndReason, Envelope, HookNotice, Notices, SessionInfo } from '../types.gen'
import { type Family, familyMark, type Mark } from './sessions'

export type NoticeKind = 'waiting' | 'done' | 'failed'

/** The ends that do not surprise the user, who has just caused them. */
const quietEnds: readonly (EndReason | undefined)[] = ['interrupted', 'refused']

/** What the change of a session's mark announces; undefined if nothing. */
export function announced(before: Mark, after: Mark, session: SessionInfo): NoticeKind | undefined {
  if (before === after) return undefined
  if (after === 'waiting' || after === 'failed') return after
  return after === 'rest' && !quietEnds.includes(session.last_end) ? 'done' : undefined
}

/** Whether the user wants to be told. */
export function isWanted(kind: NoticeKind, choice: Notices | undefined): boolean {
  const muted = { waiting: 'mute_waiting', done: 'mute_done', failed: 'mute_failed' } as const
  return !choice?.off && !choice?.[muted[kind]]
}

/** What hooks want the user to notice, in events that have just come. */
export const wishes = ({ events = [] }: Envelope): HookNotice[] =>
  events.flatMap((event) =>
    event.kind === 'hook_end' && event.data.notice && event.data.notice.level !== 'debug'
      ? [event.data.notice]
      : [],
  )

/** What the title says: the gravest state, and the session in it. A failure counts only in the open session. */
export function headline(
  families: readonly Family[],
  open: string | undefined,
): { mark: Exclude<Mark, 'rest'>; session: SessionInfo } | undefined {
  const marked = families.map(({ session, agents }) => ({
    session,
    mark: familyMark(session, agents),
  }))
  for (const mark of ['waiting', 'running'] as const) {
    const found = marked.find((each) => each.mark === mark)
    if (found) return { mark, session: found.session }
  }
  const shown = marked.find(({ session, mark }) => session.id === open && mark === 'failed')
  return shown && { mark: 'failed', session: shown.session }
}

/** The longest title of a session that leaves the page, in characters. */
const longest = 60

/** Cuts a session's title for what leaves the page. */
export function cutTitle(title: string): string {
  const characters = [...title]
  return characters.length > longest ? `${characters.slice(0, longest - 1).join('')}…` : title
}
