import type { Attachment } from 'svelte/attachments'

/**
 * Makes an element focusable while its content overflows, so that arrow keys can scroll it. An element
 * that shows all of its content is not a tab stop.
 */
export const scrollable: Attachment<HTMLElement> = (element) => {
  const look = () => {
    const scrolls =
      element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight
    if (scrolls) element.tabIndex = 0
    else if (document.activeElement !== element) element.removeAttribute('tabindex')
  }
  const sizes = new ResizeObserver(look)
  // The content may grow without a change of the element's own size. A new observation is reported
  // once the frame is laid out; measuring at once would cause one more layout.
  const contents = new MutationObserver(() => {
    sizes.unobserve(element)
    sizes.observe(element)
  })
  sizes.observe(element)
  contents.observe(element, { childList: true, characterData: true, subtree: true })
  return () => {
    sizes.disconnect()
    contents.disconnect()
  }
}

/** Whether a box inside a viewport is scrolled, which takes the wheel that turns back. */
export function scrollsInside(target: EventTarget | null, viewport: Element): boolean {
  for (let box = target as Element | null; box && box !== viewport; box = box.parentElement) {
    if (box.scrollTop > 0 && getComputedStyle(box).overflowY !== 'visible') return true
  }
  return false
}
