/** Remembers the latest results of a function of a text. Long texts, which rarely come again, are not kept. */
export function memo(work: (text: string) => string, most: number, longest = 20_000) {
  const known = new Map<string, string>()
  return (text: string): string => {
    const result = known.get(text) ?? work(text)
    if (text.length > longest) return result
    known.delete(text)
    known.set(text, result)
    if (known.size > most) known.delete(known.keys().next().value!)
    return result
  }
}
