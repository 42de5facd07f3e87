import { beforeAll, expect, test } from 'vitest'
import { sourceOf } from './copy'
import { loadFormulas } from './engine.svelte'
import { renderMarkdown } from './render'

beforeAll(loadFormulas)

function select(text: string): Selection {
  const box = document.createElement('div')
  box.innerHTML = renderMarkdown(text)
    .map((block) => block.html)
    .join('')
  document.body.replaceChildren(box)
  const selection = getSelection()!
  selection.selectAllChildren(box)
  return selection
}

test('formulas are copied as they were written', () => {
  expect(sourceOf(select('so $x^2$ and\n\n$$\ny\n$$'))?.trim()).toBe('so $x^2$ and\n$$y$$')
  expect(document.body.children).toHaveLength(1)
})

test('part of a formula is all of it', () => {
  const selection = select('so $x^2$ is')
  const two = document.querySelector('mn')!
  selection.setBaseAndExtent(two.firstChild!, 0, two.firstChild!, 1)
  expect(sourceOf(selection)).toBe('$x^2$')
})

test('without a formula, the browser copies', () => {
  expect(sourceOf(select('only text'))).toBeUndefined()
  expect(sourceOf(null)).toBeUndefined()
})
