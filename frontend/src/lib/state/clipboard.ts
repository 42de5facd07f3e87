/** The clipboard, as the page's host reaches it. */
import type { Desktop } from '../desktop'

let clipboard: Pick<Desktop, 'copy'> | undefined

export const useClipboard = (host: Pick<Desktop, 'copy'>) => (clipboard = host)

/** Puts a text on the clipboard; false if the clipboard is missing or refuses it. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await clipboard?.copy(text)
    return clipboard !== undefined
  } catch {
    return false
  }
}
