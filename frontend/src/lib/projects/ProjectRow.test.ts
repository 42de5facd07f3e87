import { screen } from '@testing-library/svelte'
import { expect, test } from 'vitest'
import { renderInApp } from '../ui/testing'
import ProjectRow from './ProjectRow.svelte'

test('characters that hide where a folder is are shown', () => {
  const folder = '/work/shop\u202egpj'
  const nothing = () => {}
  renderInApp(ProjectRow, {
    project: { folder, name: 'shop\u202egpj', path: folder, opened: 0 },
    ...{ inTab: false, id: 'row', lit: false },
    ...{ onchoose: nothing, onlit: nothing, onforget: nothing },
  })
  expect(screen.getByRole('option').textContent).not.toContain('\u202e')
  expect(screen.getByText('shop⟨U+202E⟩gpj')).toBeTruthy()
  expect(screen.getByText('/work/shop⟨U+202E⟩gpj').title).toBe('/work/shop⟨U+202E⟩gpj')
})
