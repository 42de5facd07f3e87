/** What two sequences have in common: the lines of a block, or the words of two lines. */

/** Places in both sequences that are the same, in order. */
type Pairs = [number, number][]

/** The largest table that is filled; what needs a larger one is not compared. */
const mostCells = 60_000

/**
 * The longest common subsequence. What both begin and end with is always found; between these the
 * comparison is given up, with no pairs, if it would cost too much.
 */
export function align(one: readonly string[], other: readonly string[]): Pairs {
  let start = 0
  const shorter = Math.min(one.length, other.length)
  while (start < shorter && one[start] === other[start]) start++
  let end = 0
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end++
  const pairs: Pairs = []
  for (let at = 0; at < start; at++) pairs.push([at, at])
  const [rows, columns] = [one.length - start - end, other.length - start - end]
  const inside = best(rows, columns, (row, column) =>
    one[start + row] === other[start + column] ? 1 : 0,
  )
  for (const [row, column] of inside) pairs.push([start + row, start + column])
  for (let at = end; at > 0; at--) pairs.push([one.length - at, other.length - at])
  return pairs
}

/** The pairs, in order, with the greatest total worth; a pair without worth is left out. */
export function best(
  rows: number,
  columns: number,
  worth: (row: number, column: number) => number,
): Pairs {
  if (rows === 0 || columns === 0 || rows * columns > mostCells) return []
  const width = columns + 1
  const sums = new Float32Array((rows + 1) * width)
  const worths = new Float32Array(rows * columns)
  for (let row = rows - 1; row >= 0; row--) {
    for (let column = columns - 1; column >= 0; column--) {
      const here = worth(row, column)
      worths[row * columns + column] = here
      const paired = here > 0 ? here + sums[(row + 1) * width + column + 1]! : 0
      const skipped = Math.max(sums[(row + 1) * width + column]!, sums[row * width + column + 1]!)
      sums[row * width + column] = Math.max(paired, skipped)
    }
  }
  const pairs: Pairs = []
  let [row, column] = [0, 0]
  while (row < rows && column < columns) {
    const here = worths[row * columns + column]!
    const paired = Math.fround(here + sums[(row + 1) * width + column + 1]!)
    if (here > 0 && paired >= sums[row * width + column]!) pairs.push([row++, column++])
    else if (sums[(row + 1) * width + column]! >= sums[row * width + column + 1]!) row++
    else column++
  }
  return pairs
}
