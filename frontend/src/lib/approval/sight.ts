import { getContext, setContext } from 'svelte'
import type { Attachment } from 'svelte/attachments'
import type { Question } from '../state/agents.svelte'

/** Is told whether the buttons of a question are in view; undefined once they are removed. */
export type Sight = { see: (approval: string, inView: boolean | undefined) => void }

const key = Symbol('sight')

export const provideSight = (sight: Sight) => setContext(key, sight)

/** Reports whether the buttons of a question are in view, if a [Sight] was provided. */
export function watchButtons(approval: string): Attachment {
  const sight = getContext<Sight | undefined>(key)
  return (buttons) => {
    if (!sight) return
    const observer = new IntersectionObserver(
      // Less than 1, because positions on the screen are rounded.
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

/** Focuses a question in the conversation, or the button that opens it if it is an agent's or out of view. */
export function focusNext({ agent, request }: Question, inView: boolean): void {
  // A question out of view must not be answered by a key that was meant for another one.
  if (!agent && inView) focusQuestion(request.id)
  else document.querySelector<HTMLElement>('[data-review]')?.focus()
}

/** Focuses a question in the conversation. */
export function focusQuestion(approval: string): void {
  document.querySelector<HTMLElement>(`[data-approval="${CSS.escape(approval)}"]`)?.focus()
}
