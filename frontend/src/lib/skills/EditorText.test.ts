import { render, screen } from '@testing-library/svelte'
import { expect, test } from 'vitest'
import EditorText from './EditorText.svelte'

const text = 'one\ntwo\nthree'

test('a line is selected, and lines with findings have a mark', () => {
  const { component } = render(EditorText, {
    ...{ label: 'Text', value: text, marks: new Map([[2, 'HIGH' as const]]) },
  })
  const field = screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Text' })
  component.go(2)
  expect(document.activeElement).toBe(field)
  expect(text.slice(field.selectionStart, field.selectionEnd)).toBe('two')
  expect([...document.querySelectorAll('.no')].map((it) => it.textContent)).toEqual(['1', '2', '3'])
  expect(document.querySelectorAll('.no svg')).toHaveLength(1)
})

test('a text with very many lines has no numbers', () => {
  const { component } = render(EditorText, {
    ...{ label: 'Text', value: '\n'.repeat(6000), marks: new Map() },
  })
  expect(document.querySelectorAll('.no')).toHaveLength(0)
  component.go(5999)
  expect(screen.getByRole<HTMLTextAreaElement>('textbox').selectionStart).toBe(5998)
})
