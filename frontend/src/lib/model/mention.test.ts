import { expect, test } from 'vitest'
import {
  matchedPlaces,
  matchingNames,
  mentionOf,
  namesOf,
  prepareNames,
  readMention,
  withMarks,
  writeMention,
} from './mention'

// OC-07: the bar is the caret.
test.each([
  ['@|', ''],
  ['How is it done in @src/a|', 'src/a'],
  ['(@ma|in.go)', 'ma'],
  ['看@ma|', 'ma'],
  ['see @"two wor|ds.md" now', 'two wor'],
  ['one\n@ma|', 'ma'],
  ['@main.go |', undefined],
  // B-F10: the list stays open within the names of frameworks.
  ['@app/[i|', 'app/[i'],
  ['@app/[...slug]/page|', 'app/[...slug]/page'],
  ['see @app/(dash)/la|', 'app/(dash)/la'],
  ['@app/@modal/de|', 'app/@modal/de'],
  ['@[[...all]]/x|', '[[...all]]/x'],
  ['@a.go,@ma|', 'ma'],
  ['me@exa|', undefined],
  ['`@ma|', undefined],
  ['@@ma|', undefined],
  ['@"a" |', undefined],
  ['ma|', undefined],
  ['|@ma', undefined],
  [`@${'x'.repeat(600)}|`, undefined],
])('%s', (marked, typed) => {
  const caret = marked.indexOf('|')
  expect(readMention(marked.replace('|', ''), caret)?.typed).toBe(typed)
})

test.each([
  ['see @ma|', 'main.go', 'see @main.go |'],
  ['see @ma|in.txt now', 'main.go', 'see @main.go| now'],
  ['see @s|', 'src/', 'see @src/|'],
  ['@t|', 'two words.md', '@"two words.md" |'],
  ['@"tw|o" now', 'two words.md', '@"two words.md"| now'],
  ['@"tw|o', 'two words/', '@"two words/|o'],
  ['@p|', 'app/[id]/', '@"app/[id]/|'],
  ['@"two words/f|', 'two words/f.md', '@"two words/f.md" |'],
])('%s becomes %s', (marked, name, want) => {
  const at = marked.indexOf('|')
  const text = marked.replace('|', '')
  const written = writeMention(text, readMention(text, at)!, name)
  const shown = `${written.text.slice(0, written.caret)}|${written.text.slice(written.caret)}`
  expect(shown).toBe(want)
})

test('folders can be mentioned, too', () => {
  expect(namesOf(['a.ts', 'src/lib/b.ts', 'src/lib/c.ts', 'src/d.ts'])).toEqual([
    'src/lib/',
    'src/',
    'a.ts',
    'src/lib/b.ts',
    'src/lib/c.ts',
    'src/d.ts',
  ])
})

test('the likeliest name is first', () => {
  const names = [
    'src/',
    'src/Menu.ts',
    'docs/menu/',
    'src/deep/SlashMenu.ts',
    'menu/x.ts',
    'README',
  ]
  expect(matchingNames(names, 'menu', 9)).toEqual([
    'menu/x.ts',
    'docs/menu/',
    'src/Menu.ts',
    'src/deep/SlashMenu.ts',
  ])
  expect(matchingNames(names, 'smts', 9)).toEqual(['src/Menu.ts', 'src/deep/SlashMenu.ts'])
  expect(matchingNames(names, 'src/', 9)).toEqual(['src/Menu.ts', 'src/deep/SlashMenu.ts'])
  expect(matchingNames(names, '', 2)).toEqual(['src/', 'README'])
  expect(matchingNames(names, 'nothing', 9)).toEqual([])
})

test.each([
  ['src/login.ts', 'log', 'src/[log]in.ts'],
  ['src/login.ts', 'src/l', '[src/l]ogin.ts'],
  ['login/src/catalog.ts', 'log', '[log]in/src/catalog.ts'],
  ['src/login.ts', 'C/lo', 'sr[c/lo]gin.ts'],
  ['src/login.ts', 'slgt', '[s]rc/[l]o[g]in.[t]s'],
  ['src/', '', 'src/'],
  ['src/login.ts', 'x', 'src/login.ts'],
])('of %s, %s is marked as %s', (name, typed, want) => {
  const pieces = withMarks(name, matchedPlaces(name, typed))
  expect(pieces.map(({ text, marked }) => (marked ? `[${text}]` : text)).join('')).toBe(want)
})

test('a file or lines of it are mentioned so that they can be read again', () => {
  expect(mentionOf('src/a.ts')).toBe('@src/a.ts')
  expect(mentionOf('src/a.ts', [3, 3])).toBe('@src/a.ts#L3')
  expect(mentionOf('two words.md', [3, 9])).toBe('@"two words.md#L3-9"')
})

// OC-07: the menu follows the letters in a project of 100,000 files.
test('100,000 names are matched in time', () => {
  const names = namesOf(
    Array.from({ length: 100_000 }, (_, n) => `src/part${n % 300}/deep/Component${n}.svelte`),
  )
  prepareNames(names)
  const took = ['c', 'comp99', 'part7/', 'cmpnt', 'nothing of this'].map((typed) => {
    const begun = performance.now()
    matchingNames(names, typed, 50)
    return performance.now() - begun
  })
  console.info(`100,000 names: ${took.map((ms) => ms.toFixed(0)).join(', ')} ms`)
  expect(Math.min(...took)).toBeLessThan(200)
})
