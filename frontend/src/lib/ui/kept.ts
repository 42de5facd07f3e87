import { tick } from 'svelte'

/**
 * Does what a button is for, which may take the button away. If the focus went with it, it goes to what
 * the button belonged to.
 */
export async function keepFocus(
  button: EventTarget | null,
  work: () => Promise<unknown>,
): Promise<void> {
  const owner =
    button instanceof HTMLElement
      ? (button.closest('li')?.querySelector<HTMLElement>('button') ??
        button.closest<HTMLElement>('[tabindex]'))
      : null
  await work()
  await tick()
  const { activeElement: active } = document
  if (active === null || active === document.body) owner?.focus()
}
