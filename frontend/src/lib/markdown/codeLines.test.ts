import { beforeAll, expect, test } from 'vitest'
import { highlightLines, languageOf } from './highlight'
import { loadGrammars } from './engine.svelte'
import { codeLines } from './codeLines'

beforeAll(loadGrammars)

test('the output of Read is highlighted in the language of its file, without the line numbers', () => {
  const lines = codeLines(
    '9 | /* one\n10 | two */\n11 | const a = "<b>"\n[Lines 9 to 11 of 40. Read on with offset 12.]\n',
    'src/a.ts',
  )
  expect(lines?.map((line) => line.number)).toEqual(['9', '10', '11', ''])
  expect(lines?.[0]?.html).toBe('<span class="hljs-comment">/* one</span>')
  expect(lines?.[1]?.html).toBe('<span class="hljs-comment">two */</span>')
  expect(lines?.[2]?.html).toContain('<span class="hljs-keyword">const</span>')
  expect(lines?.[2]?.html).toContain('&lt;b&gt;')
  expect(lines?.[3]?.html).toBe('[Lines 9 to 11 of 40. Read on with offset 12.]')
})

test('text without line numbers is left as it is', () => {
  expect(codeLines('[The file is empty.]', 'a.ts')).toBeUndefined()
})

test('an unknown language is escaped, line by line', () => {
  expect(highlightLines('<a>\n&', '')).toEqual(['&lt;a&gt;', '&amp;'])
})

test.each([
  ['src/a.go', 'go'],
  ['C:\\src\\a.TSX', 'tsx'],
  ['Dockerfile', 'dockerfile'],
  ['web/Makefile', 'makefile'],
  ['App.svelte', 'xml'],
  ['notes.unknown', ''],
  ['LICENSE', ''],
])('the language of %s is %s', (path, want) => {
  expect(languageOf(path)).toBe(want)
})
