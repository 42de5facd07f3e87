/** Places in files that a text names, such as src/login.ts:12, which open in the user's editor. */
import { getContext, setContext } from 'svelte'
import { escapeHTML, languageOf } from './highlight'

export type FilePlace = { path: string; line: number }
/** A piece of a text; the place that it names, if it names one. */
export type Piece = { text: string; place?: FilePlace }

const key = Symbol('files')
type Open = (path: string, line: number) => void
export const provideFiles = (open: Open) => setContext(key, open)
/** How to open a file; undefined where nothing can. */
export const filesHost = () => getContext<Open | undefined>(key)

const name = '[\\w@+-][\\w@.+-]*'
const pattern = new RegExp(
  `(?<![\\w/\\\\.:@+~-])((?:\\./)?(?:\\.?${name}/){0,20}${name}\\.[A-Za-z]\\w{0,9}):(\\d{1,7})(?![\\w/.]\\w)`,
  'g',
)

/** Extensions of files that have no colours, but are often named without a folder. */
const others = new Set(
  `txt text log csv tsv lock conf cfg env mod sum proto graphql sass scss less gradle lua dart scala hs ex exs erl
  clj jl zig nix tf ps1 bat cmd tex rst adoc ipynb`.split(/\s+/),
)
const isFile = (path: string) =>
  path.includes('/') || languageOf(path) !== '' || others.has(path.slice(path.lastIndexOf('.') + 1))

/** Splits a text at the places that look like those in files of the project, not like hosts with a port. */
export function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = []
  let at = 0
  for (const { 0: found, 1: path = '', 2: line, index } of text.matchAll(pattern)) {
    if (!isFile(path)) continue
    if (path.split('/').includes('..')) continue
    if (index > at) pieces.push({ text: text.slice(at, index) })
    pieces.push({ text: found, place: { path, line: Number(line) } })
    at = index + found.length
  }
  if (at < text.length) pieces.push({ text: text.slice(at) })
  return pieces
}

/** A place as a button, whose text says what it opens. */
export const fileButton = (text: string) => `<button class="file-link">${escapeHTML(text)}</button>`

/** The place of the button that was pressed. */
export function pressedPlace(event: Event): FilePlace | undefined {
  const button = event.target instanceof Element ? event.target.closest('button.file-link') : null
  return button ? piecesOf(button.textContent ?? '')[0]?.place : undefined
}
