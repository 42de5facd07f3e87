/** Marks the places of a text in what is drawn, without changing it. */

/** How many places are marked at most. */
const most = 2000

const literal = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&').replace(/\s/g, '\\s')

/**
 * A pattern that finds texts literally, whatever their case. One kind of white space is like another, because
 * the page draws a line break of a message as a space.
 */
export function patternOf(...texts: string[]): RegExp | undefined {
  const wanted = texts.filter((text) => text !== '').toSorted((a, b) => b.length - a.length)
  return wanted.length > 0 ? new RegExp(wanted.map(literal).join('|'), 'giu') : undefined
}

/** A formula is searched as it was written, in its annotation, which is not drawn. */
const isSearched = (node: Node) =>
  !node.parentElement?.closest('math') || node.parentElement.localName === 'annotation'

/** The formula around a text, which is marked as a whole. */
const formulaOf = (node: Node) => node.parentElement?.closest('math') ?? undefined

/** The places of a pattern in the text of an element, which may lie across its parts. */
export function rangesIn(root: Element, pattern: RegExp, limit = most): Range[] {
  const nodes: { node: Text; from: number }[] = []
  let text = ''
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!isSearched(node)) continue
    nodes.push({ node: node as Text, from: text.length })
    text += (node as Text).data
  }
  const ranges: Range[] = []
  let at = 0
  const place = (offset: number, isEnd: boolean) => {
    const reaches = (next: number) => (isEnd ? next < offset : next <= offset)
    while (nodes[at + 1] && reaches(nodes[at + 1]!.from)) at++
    return [nodes[at]!.node, offset - nodes[at]!.from] as const
  }
  for (const { 0: found, index } of text.matchAll(pattern)) {
    if (ranges.length >= limit) break
    const range = document.createRange()
    const start = place(index, false)
    const end = place(index + found.length, true)
    const [first, last] = [formulaOf(start[0]), formulaOf(end[0])]
    if (first) range.setStartBefore(first)
    else range.setStart(...start)
    if (last) range.setEndAfter(last)
    else range.setEnd(...end)
    ranges.push(range)
  }
  return ranges
}

const names = { all: 'find', current: 'find-current' }

/** Shows the ranges, one of them as the current one. Browsers without highlights show none. */
export function highlight(ranges: readonly Range[], current: Range | undefined): void {
  if (!('highlights' in CSS)) return
  const rest = ranges.filter((range) => range !== current)
  CSS.highlights.set(names.all, new Highlight(...rest))
  CSS.highlights.set(names.current, new Highlight(...(current ? [current] : [])))
}

export function clearHighlights(): void {
  if (!('highlights' in CSS)) return
  for (const name of Object.values(names)) CSS.highlights.delete(name)
}

/** Scrolls every box around a range so that the range is in view. */
export function scrollTo(range: Range, within: Element): void {
  const from = range.startContainer
  for (
    let box = from instanceof Element ? from : from.parentElement;
    box;
    box = box.parentElement
  ) {
    const { overflowY, overflowX } = getComputedStyle(box)
    const seen = box.getBoundingClientRect()
    const place = range.getBoundingClientRect()
    if (overflowY !== 'visible' && box.scrollHeight > box.clientHeight) {
      const isIn = place.top >= seen.top + 48 && place.bottom <= seen.bottom - 16
      if (!isIn) box.scrollTop += place.top - seen.top - seen.height / 2
    }
    if (overflowX !== 'visible' && box.scrollWidth > box.clientWidth) {
      const isIn = place.left >= seen.left && place.right <= seen.right
      if (!isIn) box.scrollLeft += place.left - seen.left - seen.width / 3
    }
    if (box === within) return
  }
}
