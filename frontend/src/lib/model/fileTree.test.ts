import { expect, test } from 'vitest'
import { parseDiff } from './diff'
import { asDiff, childrenOf, filtered, foldersOf } from './fileTree'

const paths = ['README.md', 'a.ts', 'src/a/b.ts', 'src/a/c.ts', 'src/z.ts', 'srcs/x']

test('a folder has its folders, then its files', () => {
  expect(childrenOf(paths, '').map(({ path, isFolder }) => path + (isFolder ? '/' : ''))).toEqual([
    'src/',
    'srcs/',
    'a.ts',
    'README.md',
  ])
  expect(childrenOf(paths, 'src').map(({ name }) => name)).toEqual(['a', 'z.ts'])
  expect(childrenOf(paths, 'src/a').map(({ path }) => path)).toEqual(['src/a/b.ts', 'src/a/c.ts'])
  expect(childrenOf(paths, 'none')).toEqual([])
})

test('a filter finds paths by all of its words', () => {
  expect(filtered(paths, 'SRC b')).toEqual(['src/a/b.ts'])
  expect(filtered(paths, ' ')).toEqual(paths)
})

test('lines are drawn as they are, also those that look like a diff', () => {
  const lines = ['@@ -1 +1 @@', '-x', '', '\\ No newline', '+y']
  const { hunks } = parseDiff(asDiff(lines))
  expect(
    hunks.flatMap((hunk) => hunk.lines.map(({ kind, text, new: at }) => [kind, text, at])),
  ).toEqual(lines.map((line, at) => ['same', line, at + 1]))
  expect(asDiff([])).toBe('')
})

test('the folders of some files are all that lead to them', () => {
  expect([...foldersOf(['a/b/c.ts', 'a/d.ts', 'e.ts'])].sort()).toEqual(['a', 'a/b'])
})

// 200,000 files: what is open is listed fast enough for each letter and click.
test('a folder of a large project is listed in time', () => {
  const paths = Array.from({ length: 200_000 }, (_, n) => `src/part${n % 500}/file${n}.ts`)
  const begun = performance.now()
  expect(childrenOf(paths, 'src/part7')).toHaveLength(400)
  expect(filtered(paths, 'part7 file199')).not.toEqual([])
  expect(performance.now() - begun).toBeLessThan(2000)
})
