/**
 * Short texts in local storage. The browser may refuse to store anything, or have no room: then the texts
 * last as long as the page, and nothing else fails. No other module uses local storage.
 */

/** What the browser did not store. */
const unstored = new Map<string, string>()

/** Stores a text; an empty text removes it. */
export function remember(key: string, text: string): void {
  unstored.delete(key)
  try {
    if (text) localStorage.setItem(key, text)
    else localStorage.removeItem(key)
  } catch {
    unstored.set(key, text)
  }
}

/** The keys of the stored texts that begin so. */
export function storedKeys(beginning: string): string[] {
  let stored: string[] = []
  try {
    stored = Object.keys(localStorage)
  } catch {
    // Nothing is stored.
  }
  return [...new Set([...stored, ...unstored.keys()])].filter((key) => key.startsWith(beginning))
}

/** Removes the texts whose keys begin so. */
export function forget(beginning: string): void {
  for (const key of storedKeys(beginning)) remember(key, '')
}

/** Returns a stored text; empty if there is none. */
export function recall(key: string): string {
  const kept = unstored.get(key)
  if (kept !== undefined) return kept
  try {
    return localStorage.getItem(key) ?? ''
  } catch {
    return ''
  }
}
