import { render, screen } from '@testing-library/svelte'
import { expect, test } from 'vitest'
import FindingList from './FindingList.svelte'

test('a finding that repeats on the same line is listed once', () => {
  const wide = { words: 'Read is wide.', line: 1 }
  const findings = [wide, { ...wide }, { ...wide, line: 2 }, { ...wide, words: 'Bash is wide.' }]
  render(FindingList, { findings })
  const said = screen.getAllByRole('listitem').map(({ textContent }) => textContent!.trim())
  expect(said).toHaveLength(3)
})
