import { Kept } from './kept'

/** Remembers the latest results of a function of a text. Long texts, which rarely come again, are not kept. */
export function memo(work: (text: string) => string, most: number, longest = 20_000) {
  const known = new Kept(most)
  return (text: string): string => {
    const before = known.get(text)
    if (before !== undefined) return before
    const result = work(text)
    if (text.length <= longest) known.set(text, result)
    return result
  }
}
