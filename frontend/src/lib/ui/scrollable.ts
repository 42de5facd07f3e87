import type { Attachment } from 'svelte/attachments'

/**
 * Lets the keyboard reach an element while it scrolls: arrow keys move it then. One that shows all
 * that it has is no stop for Tab.
 */
export const scrollable: Attachment<HTMLElement> = (element) => {
  const look = () => {
    const scrolls =
      element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight
    if (scrolls) element.tabIndex = 0
    else if (document.activeElement !== element) element.removeAttribute('tabindex')
  }
  // What is in it may grow without its own size changing.
  const sizes = new ResizeObserver(look)
  const contents = new MutationObserver(look)
  sizes.observe(element)
  contents.observe(element, { childList: true, characterData: true, subtree: true })
  return () => {
    sizes.disconnect()
    contents.disconnect()
  }
}
