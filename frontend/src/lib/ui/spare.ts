const quietMs = 400
const covers = '[role=dialog], [role=menu], [role=listbox], .floats'
let until = 0

/** Whether something lies over the page and gets every key first. */
export const isCovered = () => document.querySelector(covers) !== null

/**
 * Hears each key first. After an Escape that closed what lay over the page, the focus may be on a
 * question again, which a second Escape must not deny.
 */
export function spareQuestions(event: KeyboardEvent): void {
  if (event.key !== 'Escape') return
  if (isCovered()) until = event.timeStamp + quietMs
  else if (event.timeStamp < until && document.activeElement?.closest('[data-approval]')) {
    event.preventDefault()
    event.stopPropagation()
  }
}
