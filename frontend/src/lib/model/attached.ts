/** Files that go with a message: they are mentioned behind its text, by their paths. */

/** A file that was pasted, dropped or picked. */
export type Attachment = {
  /** Where its copy is. */
  path: string
  /** The words that mention it. */
  mention: string
  /** Its own name. */
  name: string
  kind: 'picture' | 'text' | 'other'
}

/** A text of this many characters or lines is attached when it is pasted, so that the message stays readable. */
const longText = { characters: 4000, lines: 80 }

export const isLong = (text: string): boolean =>
  text.length >= longText.characters || text.split('\n', longText.lines).length >= longText.lines

/** The message that mentions files behind its text. */
export function withAttached(text: string, files: readonly Attachment[]): string {
  const mentions = files.map(({ mention }) => mention).join(' ')
  return [text, mentions].filter(Boolean).join('\n\n')
}

/** The mentions of attached files at the end of a message. */
const behind =
  /(?:^|\n\n)((?:@(?:"[^"\n]*[/\\]attached[/\\][0-9a-f]{8}[/\\][^"\n/\\]+"|[^\s"]*[/\\]attached[/\\][0-9a-f]{8}[/\\][^\s"/\\]+) ?)+)$/
const each = /@(?:"([^"\n]+)"|(\S+))/g
/** What the name of a copy has before its ending, so that others of the same name are not replaced. */
const mark = /-[0-9a-f]{8}(?=\.[^.]*$|$)/

const pictures = /\.(?:png|jpeg|gif|webp)$/
const texts = /\.(?:txt|md|csv|json|ya?ml|log|svg|html?|xml|[jt]sx?|go|py|rs|c|h|sh|toml|sql)$/i

/** Divides a message into its text and the attached files behind it. */
export function splitAttached(message: string): { text: string; files: readonly Attachment[] } {
  const found = behind.exec(message)
  if (!found?.[1]) return { text: message, files: [] }
  const files = [...found[1].matchAll(each)].map(([mention, quoted, plain]) => {
    const path = quoted ?? plain ?? ''
    const name = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)
    const kind = pictures.test(name) ? 'picture' : texts.test(name) ? 'text' : 'other'
    return { path, mention, name: name.replace(mark, ''), kind } as const
  })
  return { text: message.slice(0, found.index), files }
}
