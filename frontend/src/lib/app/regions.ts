/** The parts of the window that F6 leads through: elements marked with data-region, in their order. */

const focusable =
  'a[href], button:not(:disabled), input:not(:disabled), textarea:not(:disabled), [tabindex="0"]'

/**
 * Puts the focus in the next region, or in the one before for -1, from the last on in the first.
 * A region is entered at its message field, else at the first element that takes the focus; one
 * without any is passed by.
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
