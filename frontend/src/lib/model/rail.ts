/** The order of the panels on the rail, and which of them are shown, as the user chose. */

export type RailItem = { name: string; hidden: boolean }

/** Reads the user's choice for the known panels. A panel that the choice lacks stands behind its usual neighbour. */
export function readRail(names: readonly string[], choice = ''): RailItem[] {
  const items: RailItem[] = []
  for (const word of choice.split(' ')) {
    const hidden = word.startsWith('-')
    const name = hidden ? word.slice(1) : word
    if (names.includes(name) && items.every((it) => it.name !== name)) items.push({ name, hidden })
  }
  for (const [at, name] of names.entries()) {
    if (items.some((it) => it.name === name)) continue
    const neighbour = items.findIndex((it) => it.name === names[at - 1])
    items.splice(neighbour + 1, 0, { name, hidden: false })
  }
  return items
}

export const writeRail = (items: readonly RailItem[]): string =>
  items.map(({ name, hidden }) => (hidden ? `-${name}` : name)).join(' ')

/** The items with one moved up (-1) or down (1); the same if it is at the end. */
export function moved(items: readonly RailItem[], name: string, by: 1 | -1): RailItem[] {
  const next = [...items]
  const at = next.findIndex((it) => it.name === name)
  const other = next[at + by]
  if (at < 0 || !other) return next
  next[at + by] = next[at]!
  next[at] = other
  return next
}

/** The items with one shown or hidden. One at least stays. */
export function turned(items: readonly RailItem[], name: string): RailItem[] {
  const next = items.map((it) => (it.name === name ? { ...it, hidden: !it.hidden } : it))
  return next.every(({ hidden }) => hidden) ? [...items] : next
}
