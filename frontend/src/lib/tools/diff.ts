/** Parses unified diffs into numbered lines. */

export type DiffLine =
  | { kind: 'hunk'; text: string }
  | { kind: 'add' | 'del' | 'same'; text: string; old?: number; new?: number }

const header = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$/

/** Parses hunks without file headers. Lines outside of a hunk are skipped. */
export function parseDiff(diff: string): DiffLine[] {
  const lines: DiffLine[] = []
  let before = 1
  let after = 1
  for (const line of diff.replace(/\n$/, '').split('\n')) {
    const hunk = header.exec(line)
    if (hunk) {
      before = Number(hunk[1])
      after = Number(hunk[2])
      lines.push({ kind: 'hunk', text: hunk[3] ?? '' })
      continue
    }
    const text = line.slice(1)
    if (line[0] === '+') lines.push({ kind: 'add', text, new: after++ })
    else if (line[0] === '-') lines.push({ kind: 'del', text, old: before++ })
    else if (line[0] === ' ') lines.push({ kind: 'same', text, old: before++, new: after++ })
  }
  return lines
}
