/** The regions that F6 moves through: the elements with data-region, in document order. */

const focusable =
  'a[href], button:not(:disabled), input:not(:disabled), textarea:not(:disabled), [tabindex="0"]'

/**
 * Moves the focus to the next region, or to the previous one for -1, and wraps around at the end.
 * It enters a region at its message field, or at its first focusable element. A region without
 * one is skipped.
 */
export function moveRegion(step: 1 | -1): void {
  const regions = [...document.querySelectorAll<HTMLElement>('[data-region]')]
  const here = regions.findIndex((region) => region.contains(document.activeElement))
  let at = here < 0 && step < 0 ? regions.length : here
  for (let left = regions.length; left > 0; left--) {
    at = (at + step + regions.length) % regions.length
    if (at !== here && enter(regions[at]!)) return
  }
}

function enter(region: HTMLElement): boolean {
  const field = region.querySelector<HTMLElement>('[data-composer]')
  const elements = field ? [field] : region.querySelectorAll<HTMLElement>(focusable)
  for (const element of elements) {
    element.focus()
    if (document.activeElement === element) return true
  }
  return false
}
