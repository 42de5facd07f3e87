import { render, screen } from '@testing-library/svelte'
import { expect, test, vi } from 'vitest'
import CompletionMenu from './CompletionMenu.svelte'
import type { Option } from './options'

test('a value that a server completes twice is offered twice', () => {
  const option: Option = {
    value: 'a',
    name: [{ text: 'a', marked: false }],
    hint: '',
    about: '',
    aside: [],
  }
  render(CompletionMenu, {
    id: 'm',
    label: 'Values',
    typed: 'a',
    options: [option, { ...option }],
    more: false,
    first: 0,
    status: '',
    ontake: vi.fn(() => true),
  })
  expect(screen.getAllByRole('option')).toHaveLength(2)
})
