/** Names of files in a terminal as links. */
import type { ILink, Terminal } from '@xterm/xterm'
import { type FilePlace, piecesOf } from '../markdown/files'

/** The places that a line of a terminal names, with the columns of each, from 1. */
export function placesIn(
  line: string,
): { place: FilePlace; text: string; from: number; to: number }[] {
  const found = []
  let at = 0
  for (const { text, place } of piecesOf(line)) {
    if (place) found.push({ place, text, from: at + 1, to: at + text.length })
    at += text.length
  }
  return found
}

/** Makes links of the files that a terminal names. */
export function linkFiles(terminal: Terminal, open: (place: FilePlace) => void): void {
  terminal.registerLinkProvider({
    provideLinks(y, callback) {
      const line = terminal.buffer.active.getLine(y - 1)?.translateToString(true) ?? ''
      const links: ILink[] = placesIn(line).map(({ place, text, from, to }) => ({
        text,
        range: { start: { x: from, y }, end: { x: to, y } },
        activate: () => open(place),
      }))
      callback(links.length > 0 ? links : undefined)
    },
  })
}
