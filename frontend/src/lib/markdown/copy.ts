/** What is copied of a message that has formulas. */

const mathOf = (node: Node) =>
  (node instanceof Element ? node : node.parentElement)?.closest('math') ?? undefined

/** The selected text with its formulas as they were written; undefined if it has none. */
export function sourceOf(selection: Selection | null): string | undefined {
  if (!selection || selection.isCollapsed || selection.rangeCount === 0) return undefined
  const range = selection.getRangeAt(0).cloneRange()
  // Part of a formula has no source of its own.
  const [first, last] = [mathOf(range.startContainer), mathOf(range.endContainer)]
  if (first) range.setStartBefore(first)
  if (last) range.setEndAfter(last)
  const box = document.createElement('div')
  box.append(range.cloneContents())
  const formulas = box.querySelectorAll('math')
  if (formulas.length === 0) return undefined
  for (const math of formulas) {
    const tex = math.querySelector('annotation')?.textContent ?? ''
    math.replaceWith(math.getAttribute('display') === 'block' ? `$$${tex}$$` : `$${tex}$`)
  }
  // Only a drawn element knows where its lines end.
  box.className = 'sr-only'
  document.body.append(box)
  const text = box.innerText ?? box.textContent
  box.remove()
  return text
}
