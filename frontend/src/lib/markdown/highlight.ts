import { codeEngine, loadGrammars } from './engine.svelte'

/** The languages that are coloured, with their other names, which are also extensions of files. */
export const names = new Set(
  `bash sh zsh c h cpp cc c++ h++ hpp hh hxx cxx csharp cs c# css diff patch dockerfile docker go golang ini toml java jsp
  javascript js jsx mjs cjs json jsonc json5 kotlin kt kts ktm ktx makefile mk mak make markdown md mkdown mkd php
  python py gyp ipython ruby rb gemspec podspec thor irb rust rs shell console shellsession sql swift
  typescript ts tsx mts cts xml html xhtml rss atom xjb xsd xsl plist wsf svg yaml yml`.split(
    /\s+/,
  ),
)

/** Longer code is not highlighted, because that would take too long. */
const longest = 60_000

/** Code as HTML that only has classes. Code in an unknown language, or before the colours are loaded, is escaped. */
export function highlight(code: string, language: string): string {
  if (code.length > longest || !names.has(language.toLowerCase())) return escapeHTML(code)
  const colour = codeEngine()
  if (!colour) void loadGrammars()
  return colour ? colour(code, language) : escapeHTML(code)
}

/** Like [highlight], but by line. */
export const highlightLines = (code: string, language: string): string[] =>
  linesOf(highlight(code, language))

/** The lines of highlighted code: an element that spans lines is closed and opened again in each of them. */
export function linesOf(html: string): string[] {
  const open: string[] = []
  return html.split('\n').map((line) => {
    const begin = open.join('')
    for (const [tag] of line.matchAll(/<\/?span[^>]*>/g)) {
      if (tag.startsWith('</')) open.pop()
      else open.push(tag)
    }
    return begin + line + '</span>'.repeat(open.length)
  })
}

/** The languages of files whose names or extensions are not names of languages. */
const namesOfLanguages: Record<string, string> = {
  dockerfile: 'dockerfile',
  makefile: 'makefile',
  svelte: 'xml',
  vue: 'xml',
}

/** The language of a file by its name; empty if unknown. */
export function languageOf(path: string): string {
  const name = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1).toLowerCase()
  const extension = name.slice(name.lastIndexOf('.') + 1)
  const language = namesOfLanguages[extension] ?? extension
  return names.has(language) ? language : ''
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

export const escapeHTML = (text: string) => text.replace(/[&<>"]/g, (c) => entities[c]!)
