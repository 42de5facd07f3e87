/** A key for each of a list's items, by a name that comes from outside and may be repeated. */
export function keysOf(names: readonly string[]): string[] {
  const counts = new Map<string, number>()
  return names.map((name) => {
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    return `${count} ${name}`
  })
}
