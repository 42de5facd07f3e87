/** The scales of the page, in percent. */
const steps = [50, 67, 75, 80, 90, 100, 110, 125, 150, 175, 200]

/** The scale that a key asks for; undefined if it asks for none. Ctrl and +, − or 0, as in browsers. */
export function zoomOf(event: KeyboardEvent, current: number): number | undefined {
  if (!(event.ctrlKey || event.metaKey) || event.altKey) return undefined
  switch (event.key) {
    case '+':
    case '=':
      return steps.find((step) => step > current) ?? steps.at(-1)
    case '-':
    case '_':
      return steps.findLast((step) => step < current) ?? steps[0]
    case '0':
      return 100
  }
  return undefined
}
