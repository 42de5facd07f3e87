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
  // The content may grow without a change of the element's own size.
  const sizes = new ResizeObserver(look)
  const contents = new MutationObserver(look)
  sizes.observe(element)
  contents.observe(element, { childList: true, characterData: true, subtree: true })
  return () => {
    sizes.disconnect()
    contents.disconnect()
  }
}
