import { render, screen } from '@testing-library/svelte'
import { expect, test } from 'vitest'
import FindingList from './FindingList.svelte'

test('what is found again on the same line is said once', () => {
  const wide = { id: 'matcher_wide', message: 'Read is wide.', line: 1 }
  const findings = [wide, { ...wide }, { ...wide, line: 2 }, { ...wide, message: 'Bash is wide.' }]
  render(FindingList, { findings })
  const said = screen.getAllByRole('listitem').map(({ textContent }) => textContent!.trim())
  expect(said).toHaveLength(3)
})
