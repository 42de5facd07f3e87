import { beforeAll, expect, test } from 'vitest'
import { highlight } from './highlight'
import { loadGrammars } from './engine.svelte'
import { markedHTML } from './marked'

beforeAll(loadGrammars)

const textOf = (html: string) => {
  const box = document.createElement('div')
  box.innerHTML = html
  return box
}

test.each([
  ['const a = "<b>&"', 6, 7],
  ['const a = "<b>&"', 0, 16],
  ['const a = "<b>&"', 11, 14],
  ['/* </span><img src=x onerror=alert(1)> */', 3, 20],
])('%j is what the HTML shows, with the characters from %i to %i marked', (code, from, to) => {
  const box = textOf(markedHTML(highlight(code, 'typescript'), [{ from, to }]))
  expect(box.textContent).toBe(code)
  const marked = [...box.querySelectorAll('.word')].map((mark) => mark.textContent)
  expect(marked.join('')).toBe(code.slice(from, to))
  expect(box.querySelector('img')).toBeNull()
})

test('characters that hide or reorder text are seen, also between marks', () => {
  const box = textOf(markedHTML(highlight('a\u202eb\u200bc', 'go'), [{ from: 1, to: 3 }]))
  expect(box.textContent).toBe('a⟨U+202E⟩b⟨U+200B⟩c')
  expect(box.querySelector('.word')?.textContent).toBe('⟨U+202E⟩b')
  expect([...box.querySelectorAll('mark')].map((mark) => mark.textContent)).toEqual([
    '⟨U+202E⟩',
    '⟨U+200B⟩',
  ])
})

test('several ranges, one after the other and at the end', () => {
  const html = markedHTML('ab<span class="x">cd</span>ef', [
    { from: 0, to: 1 },
    { from: 1, to: 3 },
    { from: 5, to: 6 },
  ])
  const marks = [...textOf(html).querySelectorAll('.word')].map((mark) => mark.textContent)
  expect(marks).toEqual(['a', 'b', 'c', 'f'])
})
