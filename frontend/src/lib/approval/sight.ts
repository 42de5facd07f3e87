import { getContext, setContext } from 'svelte'
import type { Attachment } from 'svelte/attachments'

/** Learns whether a question's buttons can be seen; undefined once they are gone. */
export type Sight = { see: (approval: string, inView: boolean | undefined) => void }

const key = Symbol('sight')

export const provideSight = (sight: Sight) => setContext(key, sight)

/** Watches the buttons of a question; nothing where nobody wants to know. */
export function watchButtons(approval: string): Attachment {
  const sight = getContext<Sight | undefined>(key)
  return (buttons) => {
    if (!sight) return
    const observer = new IntersectionObserver(
      // Less than the whole, since places on the screen are rounded.
      (entries) => sight.see(approval, entries.at(-1)!.intersectionRatio > 0.9),
      { threshold: [0, 0.9, 1] },
    )
    observer.observe(buttons)
    return () => {
      observer.disconnect()
      sight.see(approval, undefined)
    }
  }
}

/** Puts the focus on a question where it stands in a conversation. */
export function focusQuestion(approval: string): void {
  document.querySelector<HTMLElement>(`[data-approval="${CSS.escape(approval)}"]`)?.focus()
}
