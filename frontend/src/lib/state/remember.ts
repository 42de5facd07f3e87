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

/** Removes the texts whose keys begin so. */
export function forget(beginning: string): void {
  const isGone = (key: string) => key.startsWith(beginning)
  for (const key of [...unstored.keys()].filter(isGone)) unstored.delete(key)
  try {
    for (const key of Object.keys(localStorage).filter(isGone)) localStorage.removeItem(key)
  } catch {
    // Nothing is stored.
  }
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
