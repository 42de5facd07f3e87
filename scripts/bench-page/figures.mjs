// Sums measurements up in the words of the table.

/** The value below which a share of the values lies. */
export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]
}

const ms = (value) => (value < 10 ? value.toFixed(1) : value.toFixed(0))

/** The median and the worst of a few times. */
export function times(values) {
  if (values.length === 0) return '–'
  return `${ms(quantile(values, 0.5))} / ${ms(Math.max(...values))} ms`
}

/** The median, the 95th of a hundred and the worst of many times. */
export function spread(values) {
  if (values.length === 0) return '–'
  const [p50, p95] = [quantile(values, 0.5), quantile(values, 0.95)]
  return `${ms(p50)} / ${ms(p95)} / ${ms(Math.max(...values))} ms`
}

/** A frame that takes longer is seen as a halt. */
const longFrame = 50

/** The spread of frames and how many of them were long; and the long tasks, where the engine tells of them. */
export function smoothness({ frames, tasks }) {
  const late = frames.filter((frame) => frame > longFrame).length
  return `${spread(frames)}, ${late} of ${frames.length} long${tasks === null ? '' : `, ${tasks} tasks`}`
}

export const megabytes = (bytes) => (bytes > 0 ? `${Math.round(bytes / 1e6)} MB` : '–')

/** The share of the processors that is in use, from two readings of /proc/stat. */
export function busyShare(before, after) {
  const sums = [before, after].map((stat) => {
    const fields = stat.match(/^cpu +(.*)/)[1].split(' ').map(Number)
    return { all: fields.slice(0, 8).reduce((a, b) => a + b), idle: fields[3] + fields[4] }
  })
  const all = sums[1].all - sums[0].all
  return all === 0 ? 0 : 1 - (sums[1].idle - sums[0].idle) / all
}

/** The lines of a table whose first column names the rows. */
export function table(engines, rows) {
  const lines = [['', ...engines]]
  for (const [name, cells] of rows) lines.push([name, ...engines.map((engine) => cells[engine] ?? '–')])
  const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => line[column].length)))
  return lines.map((line) =>
    line.map((cell, at) => (at === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[at] + 3))).join(''),
  )
}
