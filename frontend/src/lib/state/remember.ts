/**
 * Keeps a small text for the next page; an empty one is forgotten. A text beyond the browser's quota
 * is not kept, and nothing else fails for it.
 */
export function remember(key: string, text: string): void {
  try {
    if (text) localStorage.setItem(key, text)
    else localStorage.removeItem(key)
  } catch {
    // The page works without it.
  }
}
