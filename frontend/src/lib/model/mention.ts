/** Reads the names of files that are typed after an at sign, and finds the files that they may mean. */

/** A name that is being typed. */
export type Mention = {
  /** Where the at sign is, and where the name ends, which may be after the caret. */
  from: number
  to: number
  /** What is typed before the caret. */
  typed: string
}

/** What may end a name; a name that has one of these is quoted when it is chosen. */
const ends = String.raw`\s\`"'<>|*()[\],;@`
/** A name as it is typed may have brackets, and parts that begin with an at sign. */
const typing = String.raw`(?:[^\s\`"'<>|,;@]|(?<=/)@)*`
const begun = new RegExp(`(?:^|[^\\w@\`/.])@(?:(")([^"\\n]*)|(${typing}))$`)
const rest = new RegExp(`^[^${ends.replace('[\\]', '')}]*`)
const needsQuotes = new RegExp(`[${ends}]`)

/** Longer names are not read. */
const longest = 500

/** Reads the name at a place of a text; undefined if there is none. */
export function readMention(text: string, caret: number): Mention | undefined {
  const found = begun.exec(text.slice(Math.max(0, caret - longest), caret))
  if (!found) return undefined
  const [, quote = '', quoted, plain] = found
  const typed = quoted ?? plain ?? ''
  const after = text.slice(caret, caret + longest)
  const more = (quote ? /^[^"\n]*"/ : rest).exec(after)?.[0].length ?? 0
  return { from: caret - typed.length - quote.length - 1, to: caret + more, typed }
}

/** The text with a name in the place of what is typed of it, and the place of the caret behind it. */
export function writeMention(text: string, { from, to }: Mention, name: string) {
  const isFolder = name.endsWith('/')
  const quote = needsQuotes.test(name) ? '"' : ''
  const after = text.slice(to)
  // The name of a file may follow a folder, so its quotes stay open.
  const end = isFolder ? '' : quote + (/^\s/.test(after) ? '' : ' ')
  const written = `${text.slice(0, from)}@${quote}${name}${end}`
  return { text: written + after, caret: written.length }
}

/** The words that mention a file, or lines of it. */
export function mentionOf(path: string, lines?: readonly [number, number]): string {
  const range = lines && (lines[0] === lines[1] ? `#L${lines[0]}` : `#L${lines[0]}-${lines[1]}`)
  const name = path + (range ?? '')
  return needsQuotes.test(name) ? `@"${name}"` : `@${name}`
}

/** The names that can be mentioned: those of files, and of the folders that they are in, with a slash. */
export function namesOf(files: readonly string[]): string[] {
  const folders = new Set<string>()
  for (const file of files) {
    for (let at = file.lastIndexOf('/'); at > 0; at = file.lastIndexOf('/', at - 1)) {
      const folder = file.slice(0, at + 1)
      if (folders.has(folder)) break
      folders.add(folder)
    }
  }
  return [...folders, ...files]
}

/** A list of names for searching: in the order in which they are offered, as they are and in lower case, and where their last parts begin. */
type Index = { names: string[]; lower: string[]; last: Int32Array }
const indexes = new WeakMap<readonly string[], Index>()

/** Makes the index of a list, which takes some time, so that what is typed later is found at once. */
export function prepareNames(list: readonly string[]): Index {
  let index = indexes.get(list)
  if (!index) {
    const names = inOrder(list)
    const lower = names.map((name) => name.toLowerCase())
    indexes.set(list, (index = { names, lower, last: Int32Array.from(lower, lastPart) }))
  }
  return index
}

/** Names by depth, by length, by place. Numbers sort much faster than names. */
function inOrder(list: readonly string[]): string[] {
  const keys = Float64Array.from(list, (name, at) => {
    return (Math.min(depthOf(name), 255) * 4096 + Math.min(name.length, 4095)) * 2 ** 24 + at
  })
  return Array.from(keys.sort(), (key) => list[key % 2 ** 24]!)
}

/**
 * The names that the typed text may mean, the likeliest first: the text begins the last part of the name, or
 * is in that part, or anywhere in the name, or its letters occur in the name in their order. Names of few
 * folders and few letters come first.
 */
export function matchingNames(list: readonly string[], typed: string, most: number): string[] {
  const wanted = typed.toLowerCase()
  const { names, lower, last } = prepareNames(list)
  const groups: string[][] = [[], [], []]
  for (let at = 0; at < lower.length && groups[0]!.length < most; at++) {
    const group = groups[rankOf(lower[at]!, last[at]!, wanted)]
    if (group && group.length < most && names[at] !== typed) group.push(names[at]!)
  }
  const found = groups.flat()
  for (let at = 0; at < lower.length && found.length < most; at++) {
    const name = lower[at]!
    if (hasLetters(name, wanted) && !name.includes(wanted)) found.push(names[at]!)
  }
  return found.slice(0, most)
}

/** The best group of a name that has what is typed; -1 if it does not have it. */
function rankOf(name: string, last: number, wanted: string): number {
  const at = name.indexOf(wanted)
  if (at < 0) return -1
  const inLast = at >= last ? at : name.indexOf(wanted, last)
  if (at === 0 || inLast === last) return 0
  return inLast > last ? 1 : 2
}

function hasLetters(name: string, wanted: string): boolean {
  let at = -1
  for (const letter of wanted) {
    at = name.indexOf(letter, at + 1)
    if (at < 0) return false
  }
  return true
}

/** Where the letters occur in a name, in their order; undefined if they do not. */
function lettersOf(name: string, wanted: string): number[] | undefined {
  const places: number[] = []
  let from = 0
  for (const letter of wanted) {
    const at = name.indexOf(letter, from)
    if (at < 0) return undefined
    for (let n = 0; n < letter.length; n++) places.push(at + n)
    from = at + letter.length
  }
  return places
}

/** The places in a name that have what is typed, as it is found. */
export function matchedPlaces(name: string, typed: string): readonly number[] {
  const [text, wanted] = [name.toLowerCase(), typed.toLowerCase()]
  const inLast = text.indexOf(wanted, lastPart(text))
  const at = text.startsWith(wanted) && inLast !== lastPart(text) ? 0 : inLast
  const found = at >= 0 ? at : text.indexOf(wanted)
  if (found < 0) return lettersOf(text, wanted) ?? []
  return Array.from({ length: wanted.length }, (_, n) => found + n)
}

/** A part of a name. */
export type Piece = { text: string; marked: boolean }

/** The pieces of a name from one place to another, of which some places are marked. */
export function withMarks(name: string, marks: readonly number[], from = 0, to = name.length) {
  const pieces: Piece[] = []
  for (let at = from; at < to; at++) {
    const marked = marks.includes(at)
    const last = pieces.at(-1)
    if (last?.marked === marked) last.text += name[at]!
    else pieces.push({ text: name[at]!, marked })
  }
  return pieces
}

/** Where the last part of a name begins. */
const lastPart = (name: string) => name.lastIndexOf('/', name.length - 2) + 1

/** How many parts a name has. */
function depthOf(name: string): number {
  let parts = 1
  for (let at = name.indexOf('/'); at >= 0 && at < name.length - 1; at = name.indexOf('/', at + 1))
    parts++
  return parts
}
