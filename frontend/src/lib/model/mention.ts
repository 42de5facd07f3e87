/** Reads the names of files that are typed after an at sign, and finds the files that they may mean. */

/** A name that is being typed. */
export type Mention = {
  /** Where the at sign stands, and where the name ends, which may be behind the caret. */
  from: number
  to: number
  /** What is typed before the caret. */
  typed: string
}

/** What ends a name; a name that has one of these stands in quotes. */
const ends = String.raw`\s\`"'<>|*()[\],;@`
const begun = new RegExp(`(?:^|[^\\w@\`/.])@(?:(")([^"\\n]*)|([^${ends}]*))$`)
const rest = new RegExp(`^[^${ends}]*`)
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
  // A folder goes on, so its quotes stay open.
  const end = isFolder ? '' : quote + (/^\s/.test(after) ? '' : ' ')
  const written = `${text.slice(0, from)}@${quote}${name}${end}`
  return { text: written + after, caret: written.length }
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

/**
 * The names that what is typed may mean, the likeliest first: it begins the last part of the name, or
 * stands in that part, or somewhere, or its letters stand there in their order.
 */
export function matchingNames(names: readonly string[], typed: string, most: number): string[] {
  const wanted = typed.toLowerCase()
  const groups: string[][] = [[], [], [], []]
  for (const name of names) {
    const group = groups[rankOf(name.toLowerCase(), wanted)]
    if (name !== typed) group?.push(name)
  }
  return groups
    .flatMap((group) => group.sort((a, b) => depthOf(a) - depthOf(b) || a.length - b.length))
    .slice(0, most)
}

function rankOf(name: string, wanted: string): number {
  const last = name.lastIndexOf('/', name.length - 2) + 1
  const at = name.indexOf(wanted, last)
  if (at === last || name.startsWith(wanted)) return 0
  if (at > last) return 1
  if (name.includes(wanted)) return 2
  let from = 0
  for (const letter of wanted) {
    from = name.indexOf(letter, from) + 1
    if (from === 0) return -1
  }
  return 3
}

const depthOf = (name: string) => name.slice(0, -1).split('/').length
