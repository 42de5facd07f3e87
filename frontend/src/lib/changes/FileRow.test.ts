import { render, screen } from '@testing-library/svelte'
import { expect, test } from 'vitest'
import type { ChangedFile } from '../types.gen'
import FileRow from './FileRow.svelte'

const nothing = () => {}
const draw = (file: Partial<ChangedFile>) =>
  render(FileRow, {
    file: { path: 'src/big.js', state: 'modified', added: 0, removed: 0, staged: 'none', ...file },
    ...{ open: false, busy: false, ontoggle: nothing, onedit: nothing },
  })

test('a row says its state once, and large numbers are grouped', () => {
  draw({ state: 'conflicted', added: 1250000 })
  screen.getByRole('button', { name: /^has conflicts big\.js src\/ \+1,250,000$/ })
  expect(screen.getAllByText('has conflicts')).toHaveLength(2) // the one that is seen, and the one that is heard
})
