/** What the page and the document that draws diagrams say to each other. */

/** The colours of the page that a diagram is drawn in, as Mermaid reads them. */
export type Colours = {
  isDark: boolean
  /** Those that tell several things apart. The sheet's colour is readable on each. */
  hues: string[]
} & Record<'sheet' | 'well' | 'line' | 'control' | 'ink' | 'inkSoft', string>

export type Drawing = { id: string; source: string; colours: Colours }

const failures = ['unread', 'unknown', 'too_large', 'slow'] as const
type Failure = (typeof failures)[number]
/** Why a diagram is not drawn, and in which line of it. */
export type Undrawn = { id: string; failure: Failure; line?: number }
export type Drawn = { id: string; svg: string } | Undrawn

/**
 * The limits of a diagram. The window draws it on the thread of the page, so that a diagram that would
 * take seconds is refused beforehand.
 */
const mostText = 10_000
const mostParts = 150
export const mostEdges = 150
/** The most characters of a picture that is shown. */
const mostPicture = 2_000_000

/** Whether a diagram is too large to be drawn. Lines, semicolons and ampersands separate its parts. */
export const isTooLarge = (source: string): boolean =>
  source.length > mostText || source.split(/[\n;&]/).length > mostParts

/** The answer to the drawing of that id; undefined if a message is something else. */
export function answerTo(id: string, message: unknown): Drawn | undefined {
  if (typeof message !== 'object' || message === null) return undefined
  const { id: of, svg, failure, line } = message as Record<string, unknown>
  if (of !== id) return undefined
  if (typeof svg === 'string' && svg.startsWith('<svg')) {
    return svg.length > mostPicture ? { id, failure: 'too_large' } : { id, svg }
  }
  const known = failures.find((each) => each === failure) ?? 'unread'
  const isLine = Number.isSafeInteger(line) && (line as number) > 0
  return isLine ? { id, failure: known, line: line as number } : { id, failure: known }
}

/** What a diagram is called: its title, or else its first line. */
export function titleOf(source: string): string {
  const titled = /^\s*(?:accTitle\s*:|title(?:\s*:|\s))\s*(.+)$/m.exec(source)?.[1]
  const first = source.split('\n').find((line) => /^\s*\w/.test(line))
  return (titled ?? first ?? '').trim().slice(0, 200)
}
