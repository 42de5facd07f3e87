import { expect, test } from 'vitest'
import { matchingNames, namesOf, readMention, writeMention } from './mention'

// OC-07: the bar is the caret.
test.each([
  ['@|', ''],
  ['How is it done in @src/a|', 'src/a'],
  ['(@ma|in.go)', 'ma'],
  ['看@ma|', 'ma'],
  ['see @"two wor|ds.md" now', 'two wor'],
  ['one\n@ma|', 'ma'],
  ['@main.go |', undefined],
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
