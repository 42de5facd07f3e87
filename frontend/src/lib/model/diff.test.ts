import { describe, expect, test } from 'vitest'
import { align } from './align'
import { type Diff, type DiffLine, parseDiff } from './diff'
import { type DiffRow, pairLines, rowsOf, withoutSpaces } from './diffRows'
import { changedWords, type Range } from './words'

const flat = ({ hunks }: Diff) => hunks.flatMap(({ lines }) => lines)
const told = ({ kind, text, old, new: now }: DiffLine) =>
  `${{ same: ' ', add: '+', del: '-' }[kind]}${old ?? ''}:${now ?? ''} ${text}`

describe('a diff', () => {
  test('numbers its lines from the hunk headers', () => {
    const diff = parseDiff(
      '@@ -3,3 +3,4 @@ func a()\n same\n-old\n+new\n+more\n@@ -20 +21 @@\n-x\n+y\n',
    )
    expect(diff.hunks.map(({ heading }) => heading)).toEqual(['func a()', ''])
    expect(flat(diff).map(told)).toEqual([
      ' 3:3 same',
      '-4: old',
      '+:4 new',
      '+:5 more',
      '-20: x',
      '+:21 y',
    ])
  })

  test('leaves out the lines that name the file, but no line of a hunk that looks like one', () => {
    const diff = parseDiff(
      'diff --git a/q b/q\nindex 1..2 100644\n--- a/q\n+++ b/q\n@@ -1,2 +1,2 @@\n--- a\n+++ b\n same\ndiff --git a/r b/r\n--- a/r\n+++ b/r\n@@ -7 +7 @@\n-1\n+2\n',
    )
    expect(flat(diff).map(told)).toEqual(['-1: -- a', '+:1 ++ b', ' 2:2 same', '-7: 1', '+:7 2'])
  })

  test('shows lines that its header does not count', () => {
    expect(flat(parseDiff('@@ -1 +1 @@\n-a\n+b\n+hidden\n\n')).map(told)).toEqual([
      '-1: a',
      '+:1 b',
      '+:2 hidden',
      ' 2:3 ',
    ])
  })

  test('tells where the newline at the end is missing, and how lines end', () => {
    const diff = parseDiff('@@ -1,2 +1,2 @@\n a\n-b\r\n\\ No newline at end of file\n+b\n')
    expect(flat(diff)).toMatchObject([
      { text: 'a' },
      { text: 'b', crlf: true, unended: true },
      { text: 'b' },
    ])
    expect(diff.crlf).toBe(false)
    expect(parseDiff('@@ -1 +1 @@\r\n-a\r\n+b\r\n').crlf).toBe(true)
  })

  test.each(['', 'no diff', '@@ -1 +1 @@', '\\', '@@ -99999999999 +1 @@\n+a', '\n\n@@'])(
    'has no lines in %j',
    (text) => {
      expect(flat(parseDiff(text))).toEqual([])
      expect(rowsOf(parseDiff(text), wish).changes).toEqual([])
    },
  )

  test('counts the lines beyond its limit', () => {
    const diff = parseDiff(`@@ -0,0 +1,9 @@\n${'+a\n'.repeat(9)}`, 4)
    expect(flat(diff)).toHaveLength(4)
    expect(diff.cut).toBe(5)
  })
})

const wish = { split: false, context: new Map<number, string>(), grows: false, heads: false }

function draw(row: DiffRow): string {
  if (row.kind === 'gap') return `… ${row.from} to ${row.to ?? ''}`
  if (row.kind === 'line') return told(row.line)
  const { left, right } = row
  return `${left ? told(left) : ''} | ${right ? told(right) : ''}`
}

const rows = (text: string, other: Partial<Parameters<typeof rowsOf>[1]> = {}) =>
  rowsOf(pairLines(parseDiff(text)), { ...wish, ...other }).rows.map(draw)

describe('rows', () => {
  const two = '@@ -10 +10,2 @@\n-a\n+b\n+c\n@@ -31 +32 @@\n-x\n+y\n'

  test('tell how many lines are between hunks', () => {
    expect(rows(two)).toEqual([
      '… 1 to 9',
      '-10: a',
      '+:10 b',
      '+:11 c',
      '… 12 to 31',
      '-31: x',
      '+:32 y',
    ])
    expect(rowsOf(parseDiff(two), wish).changes).toEqual([1, 5])
  })

  test('take lines that were read, with both their numbers, and end where the file ends', () => {
    const context = new Map([
      [12, 'first'],
      [31, 'last'],
      [33, 'after'],
    ])
    expect(rows(two, { context, grows: true }).slice(4)).toEqual([
      ' 11:12 first',
      '… 13 to 30',
      ' 30:31 last',
      '-31: x',
      '+:32 y',
      ' 32:33 after',
      '… 34 to ',
    ])
    expect(rows(two, { context, grows: true, length: 33 }).at(-1)).toBe(' 32:33 after')
  })

  test('have nothing around a file that is added or removed as a whole', () => {
    expect(rows('@@ -0,0 +1 @@\n+a\n', { grows: true })).toEqual(['+:1 a'])
    expect(rows('@@ -1 +0,0 @@\n-a\n', { grows: true })).toEqual(['-1: a'])
  })

  test('are in two columns, each line beside the one that it became', () => {
    expect(
      rows(
        '@@ -1,4 +1,5 @@\n one\n-let total = sum(items)\n-return total\n+// New.\n+const total = sum(items)\n+return total + tax\n four\n',
        { split: true },
      ),
    ).toEqual([
      ' 1:1 one |  1:1 one',
      ' | +:2 // New.',
      '-2: let total = sum(items) | +:3 const total = sum(items)',
      '-3: return total | +:4 return total + tax',
      ' 4:5 four |  4:5 four',
    ])
  })

  test('leave out lines that change in spaces only', () => {
    const text =
      '@@ -1,2 +1,4 @@\n-a( b )\n-c\n+if (x) {\n+  a(b)\n+  c\n+}\n@@ -9 +11 @@\n-\tz\n+    z\n'
    const diff = withoutSpaces(pairLines(parseDiff(text)))
    expect(diff.hunks.map(({ index }) => index)).toEqual([0])
    expect(rowsOf(diff, wish).rows.map(draw)).toEqual([
      '+:1 if (x) {',
      ' 1:2   a(b)',
      ' 2:3   c',
      '+:4 }',
    ])
  })

  test('are quick for many lines', () => {
    const text = `@@ -1,20000 +1,20000 @@\n${'-a b\n'.repeat(20_000)}${'+a c\n'.repeat(20_000)}`
    expect(rows(text, { split: true })).toHaveLength(20_000)
  })
})

describe('words', () => {
  const shown = (text: string, ranges: Range[]) =>
    ranges.map(({ from, to }) => text.slice(from, to))
  const changed = (before: string, after: string) => {
    const [one, other] = changedWords(before, after)
    return [shown(before, one), shown(after, other)]
  }

  test.each([
    ['const a = one(2)', 'const b = one(3)', ['a', '2'], ['b', '3']],
    ['a  b', 'a b', ['  '], [' ']],
    ['the old brown fox', 'the new red fox', ['old brown'], ['new red']],
    ['return total', 'return total + tax', [], [' + tax']],
    ['价格是十元', '价格是九元整', ['十'], ['九', '整']],
    ['same', 'same', [], []],
    ['nothing alike', 'quite different', [], []],
  ])('of %j and %j', (before, after, gone, come) => {
    expect(changed(before, after)).toEqual([gone, come])
  })

  test('of a line with very many are those between what is the same', () => {
    const line = 'word '.repeat(600)
    expect(changed(`${line}x${line}`, `${line}😀${line}`)).toEqual([['x'], ['😀']])
  })
})

test('sequences too long to compare have what they begin and end with', () => {
  const one = ['a', ...Array.from({ length: 400 }, (_, at) => `x${at}`), 'z']
  const other = ['a', ...Array.from({ length: 400 }, (_, at) => `y${at}`), 'z']
  expect(align(one, other)).toEqual([
    [0, 0],
    [401, 401],
  ])
})
