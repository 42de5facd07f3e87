import { describe, expect, test, vi } from 'vitest'
import { grammarNames } from './grammars'
import { highlight, languageOf, names } from './highlight'
import { loadGrammars } from './engine.svelte'

describe('code', () => {
  test('is coloured in the languages whose grammars are loaded, and in no others', () => {
    expect([...names].sort()).toEqual([...new Set(grammarNames())].sort())
  })

  test('is rendered again once the grammars are loaded', async () => {
    vi.resetModules() // other tests may have loaded them
    const { renderMarkdown } = await import('./render')
    const { loadGrammars } = await import('./engine.svelte')
    const html = () => renderMarkdown('```c++\nint a = 1;\n```')[0]!.html
    expect(html()).toBe('int a = 1;')
    await loadGrammars()
    expect(html()).toContain('<span class="hljs-type">int</span>')
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
