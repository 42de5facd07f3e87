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

/** The project's folder, whose files may be named by absolute paths. */
let root = ''
export const setRoot = (folder: string): void => void (root = slashed(folder).replace(/\/$/, ''))
const slashed = (path: string) => path.replaceAll('\\', '/')

const letter = String.raw`\p{L}\p{M}\p{N}_`
/** A part of a path: characters of names, and what frameworks put in brackets, such as [id] and (group). */
const part = String.raw`(?:[${letter}@+.#-]|\[[^\[\]\s/]{1,60}\]|\([^()\s/]{1,60}\))+`
const folders = String.raw`(?:[A-Za-z]:[\\/]|[\\/]|\.{1,2}[\\/])?(?:${part}[\\/]){0,30}`
const named = String.raw`(?:Makefile|Dockerfile|Gemfile|Rakefile|Justfile|Procfile|Jenkinsfile|Vagrantfile|justfile|makefile)`
const file = String.raw`${folders}(?:[${letter}@+.#-]*\.[A-Za-z]\w{0,9}|${named})`
const place = String.raw`:(?<colon>\d{1,7})(?:[:-]\d{1,7})*|\((?<bracket>\d{1,7})(?:,\d{1,7})?\)|#L(?<hash>\d{1,7})(?:-L?\d{1,7})?`
/** Where a file's name may begin: not within a word, an address or another path. */
const before = String.raw`(?<![${letter}/\\.:@+~#\])-])`
const python = String.raw`File "(?<quoted>[^"\n]{1,300})", line (?<line>\d{1,7})`
const pattern = new RegExp(
  String.raw`${python}|${before}(?<path>${file})(?:${place})?(?![${letter}/\\]|\.[${letter}])`,
  'gu',
)

/** Extensions of files that have no colours, but are often named without a folder. */
const others = new Set(
  `txt text log csv tsv lock conf cfg env mod sum proto graphql sass scss less gradle lua dart scala hs ex exs erl
  clj jl zig nix tf ps1 bat cmd tex rst adoc ipynb`.split(/\s+/),
)
const isFile = (path: string) =>
  path.includes('/') || languageOf(path) !== '' || others.has(path.slice(path.lastIndexOf('.') + 1))
/** Whether a path without a line is that of a file, and not a part of an address or two words. */
const isPlain = (path: string) =>
  /^(?!www\.)[^/]+\//.test(path) &&
  (languageOf(path) !== '' || others.has(path.slice(path.lastIndexOf('.') + 1)))

/** A path within the project; undefined for one that leads out of it. */
function within(path: string): string | undefined {
  let plain = slashed(path)
  if (root && plain.startsWith(`${root}/`)) plain = plain.slice(root.length + 1)
  if (/^\/|^[A-Za-z]:/.test(plain) || plain.split('/').includes('..')) return undefined
  return plain
}

/** Splits a text at the places that look like those in files of the project, not like hosts with a port. */
export function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = []
  let at = 0
  for (const { 0: whole, index, groups = {} } of text.matchAll(pattern)) {
    const { path = '', quoted, line = groups.colon ?? groups.bracket ?? groups.hash } = groups
    // Chinese has no spaces: what stands before the name of a file in its first part belongs to the sentence.
    const prose = /^\p{Script=Han}+(?=[\w.])/u.exec(path)?.[0] ?? ''
    const inside = within(quoted ?? path.slice(prose.length))
    if (!inside || (!quoted && !(line ? isFile(inside) : isPlain(inside)))) continue
    const begin = index + prose.length
    if (begin > at) pieces.push({ text: text.slice(at, begin) })
    const shown = whole.slice(prose.length)
    pieces.push({ text: shown, place: { path: inside, line: Number(line ?? 1) } })
    at = index + whole.length
  }
  if (at < text.length) pieces.push({ text: text.slice(at) })
  return pieces
}

const whole = new RegExp(String.raw`^(?<path>[^:"'|<>*?\n]{1,300})(?:${place})$`, 'u')

/** The place that a whole text names, such as code or the target of a link: its path may have spaces. */
export function placeIn(text: string): FilePlace | undefined {
  const [first, ...more] = piecesOf(text)
  if (first?.place && more.length === 0) return first.place
  const { path = '', ...lines } = whole.exec(text)?.groups ?? {}
  const inside = /\.[A-Za-z]\w{0,9}$/.test(path) ? within(path) : undefined
  const line = Number(lines.colon ?? lines.bracket ?? lines.hash)
  return inside && !/^\S+\s.*[({;=]/.test(path) && isFile(inside)
    ? { path: inside, line }
    : undefined
}

/** A place as a button, whose text or title says what it opens. */
export const fileButton = (text: string) => `<button class="file-link">${escapeHTML(text)}</button>`

/** The place of the button that was pressed. */
export function pressedPlace(event: Event): FilePlace | undefined {
  const button = event.target instanceof Element ? event.target.closest('button.file-link') : null
  return button ? placeIn(button.getAttribute('title') ?? button.textContent ?? '') : undefined
}
