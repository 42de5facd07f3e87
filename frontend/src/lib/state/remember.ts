/**
 * Stores a short text in local storage; an empty text removes it. If the browser's quota is exceeded, the
 * text is not stored and nothing else fails.
 */
export function remember(key: string, text: string): void {
  try {
    if (text) localStorage.setItem(key, text)
    else localStorage.removeItem(key)
  } catch {
    // The page works without the stored text.
  }
}
