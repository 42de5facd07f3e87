import hljs from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'
import c from 'highlight.js/lib/languages/c'
import css from 'highlight.js/lib/languages/css'
import diff from 'highlight.js/lib/languages/diff'
import dockerfile from 'highlight.js/lib/languages/dockerfile'
import go from 'highlight.js/lib/languages/go'
import ini from 'highlight.js/lib/languages/ini'
import java from 'highlight.js/lib/languages/java'
import javascript from 'highlight.js/lib/languages/javascript'
import json from 'highlight.js/lib/languages/json'
import makefile from 'highlight.js/lib/languages/makefile'
import markdown from 'highlight.js/lib/languages/markdown'
import python from 'highlight.js/lib/languages/python'
import rust from 'highlight.js/lib/languages/rust'
import shell from 'highlight.js/lib/languages/shell'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'
import { isRare, loadRare, rareLoaded } from './languages.svelte'

const languages = {
  bash, c, css, diff, dockerfile, go, ini, java, javascript, json, makefile, markdown, python, rust,
  shell, typescript, xml, yaml,
} // prettier-ignore

for (const [name, grammar] of Object.entries(languages)) hljs.registerLanguage(name, grammar)

/** Longer code is not highlighted, because that would take too long. */
const longest = 60_000

const isKnown = (language: string) => isRare(language) || hljs.getLanguage(language) !== undefined

/** Code as HTML that only has classes. Code is escaped if its language is unknown, or not loaded yet. */
export function highlight(code: string, language: string): string {
  if (code.length > longest || !isKnown(language)) return escapeHTML(code)
  if (isRare(language) && !rareLoaded()) {
    void loadRare()
    return escapeHTML(code)
  }
  return hljs.highlight(code, { language, ignoreIllegals: true }).value
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
  return isKnown(language) ? language : ''
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

export const escapeHTML = (text: string) => text.replace(/[&<>"]/g, (c) => entities[c]!)
