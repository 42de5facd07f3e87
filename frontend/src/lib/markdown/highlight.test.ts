import { describe, expect, test } from 'vitest'
import { grammarNames } from './grammars'
import { highlight, languageOf, names } from './highlight'
import { loadGrammars } from './engine.svelte'

describe('code', () => {
  test('is coloured in the languages whose grammars are loaded, and in no others', () => {
    expect([...names].sort()).toEqual([...new Set(grammarNames())].sort())
  })

  test('is coloured in a language that is known by any name', async () => {
    await loadGrammars()
    expect(highlight('package main', 'Go')).toContain('hljs-keyword')
    expect(highlight('a < b', 'cobol')).toBe('a &lt; b')
  })

  test.each([
    ['src/login.ts', 'ts'],
    ['C:\\work\\Dockerfile', 'dockerfile'],
    ['Page.svelte', 'xml'],
    ['notes.docx', ''],
  ])('in %s is in the language %j', (path, language) => {
    expect(languageOf(path)).toBe(language)
  })
})
