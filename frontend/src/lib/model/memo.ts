/** What follows a number sign at the start of a single line; undefined for other texts. */
export function noteIn(text: string): string | undefined {
  const [, note] = /^#(?!#)[ \t]*(\S[^\n]*)$/.exec(text) ?? []
  return note?.trim()
}
