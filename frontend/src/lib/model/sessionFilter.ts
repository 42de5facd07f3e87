/** What a list of sessions is limited to; the same as in Go. */
import type { SessionFilter, SessionInfo, SessionView } from '../types.gen'
import type { Family } from './sessions'

/** Reads what is typed to filter the list: words, and a tag after a number sign. */
export function readFilter(typed: string, view: SessionView): SessionFilter {
  const words = typed.trim().split(/\s+/)
  const tag = words.find((word) => word.length > 1 && word.startsWith('#'))
  const text = words.filter((word) => word !== tag).join(' ')
  return {
    ...(view && { view }),
    ...(text && { text }),
    ...(tag && { tag: tag.slice(1).toLowerCase() }),
  }
}

export const isFiltered = ({ text, tag }: SessionFilter): boolean => Boolean(text ?? tag)

/** What the user did with a session. */
const viewOf = ({ marks }: SessionInfo): SessionView =>
  marks?.deleted ? 'deleted' : marks?.archived ? 'archived' : ''

/** Whether a list has a session with its agents. */
export function selects(filter: SessionFilter, { session, agents }: Family): boolean {
  const { view = '', text = '', tag } = filter
  if (viewOf(session) !== view || (tag && !session.marks?.tags?.includes(tag))) return false
  return [session, ...agents].some((each) => names(each, text)) || hasPrompt(session, text)
}

/** Whether the title of a session has a text. */
export const names = ({ title }: SessionInfo, text: string): boolean => has(title, text)

const hasPrompt = ({ prompt = '', marks }: SessionInfo, text: string): boolean =>
  has(prompt, text) || has(marks?.label ?? '', text)

const has = (text: string, wanted: string): boolean =>
  text.toLowerCase().includes(wanted.toLowerCase())
