import { render, screen } from '@testing-library/svelte'
import { expect, test } from 'vitest'
import Facts from './Facts.svelte'

test('facts of the same name are all shown', () => {
  const facts = [
    ['path', 'a'],
    ['path', 'b'],
    ['none', ''],
  ] as const
  render(Facts, { facts })
  expect(screen.getAllByText('path')).toHaveLength(2)
  expect(screen.getAllByRole('definition').map(({ textContent }) => textContent)).toEqual([
    'a',
    'b',
  ])
})
