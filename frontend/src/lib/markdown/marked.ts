/** Marks inside highlighted code: words that changed, and characters that hide or reorder text. */
import { visiblePieces } from '../model/visible'
import type { Range } from '../model/words'
import { escapeHTML } from './highlight'

const token = /<[^>]*>|&[^;]+;|[^<&]+/g
const open = '<span class="word">'
const close = '</span>'

/**
 * HTML of a highlighter with the ranges of its text marked; it stays safe, because what is added is
 * escaped. A mark never crosses an element: it is closed before the element and opened again after it.
 */
export function markedHTML(html: string, ranges: readonly Range[]): string {
  const rest = [...ranges]
  let at = 0
  return html.replace(token, (piece) => {
    if (piece.startsWith('<')) return piece
    if (piece.startsWith('&')) {
      at++
      return isMarked(at - 1, rest) ? open + piece + close : piece
    }
    return textOf(piece, at, (at += piece.length), rest)
  })
}

/** Whether a character is in the first of the ranges that are left; what is past is dropped. */
function isMarked(at: number, rest: Range[]): boolean {
  while (rest[0] && rest[0].to <= at) rest.shift()
  return rest[0] !== undefined && rest[0].from <= at
}

function textOf(text: string, from: number, to: number, rest: Range[]): string {
  let html = ''
  for (let at = from; at < to;) {
    const marked = isMarked(at, rest)
    const end = Math.min(to, rest[0] ? (marked ? rest[0].to : rest[0].from) : to)
    const shown = visible(text.slice(at - from, end - from))
    html += marked ? open + shown + close : shown
    at = end
  }
  return html
}

const visible = (text: string): string =>
  visiblePieces(text)
    .map((piece) => (piece.hidden ? `<mark>${piece.text}</mark>` : escapeHTML(piece.text)))
    .join('')
