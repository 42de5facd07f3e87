/** Unsent text, by session; it outlives a reload and a change of session. */
const key = (owner: string) => `atelier.draft:${owner}`

export const readDraft = (owner: string) => localStorage.getItem(key(owner)) ?? ''

export function writeDraft(owner: string, text: string): void {
  try {
    if (text) localStorage.setItem(key(owner), text)
    else localStorage.removeItem(key(owner))
  } catch {
    // A text beyond the browser's quota stays in the field and is not remembered.
  }
}
