import { fireEvent, screen } from '@testing-library/svelte'
import { beforeEach, expect, test, vi } from 'vitest'
import type { Call } from '../api'
import { Catalog } from '../state/catalog.svelte'
import { setLanguage } from '../i18n/i18n.svelte'
import { renderInApp } from '../ui/testing'
import Pickers from './Pickers.svelte'

beforeEach(() => setLanguage('en'))

// K-47, K-53: the menu says what holds here, and claims no confinement where there is none.
test.each([
  [true, 'Auto (confined)', 'the system keeps in the project'],
  [false, 'Auto (not confined)', 'is asked about'],
  [undefined, 'Auto', 'where this system can confine them'],
])('names the mode auto where confinement holds: %s', async (holds, label, hint) => {
  const catalog = new Catalog((async () => ({})) as unknown as Call)
  const settings = { provider: 'p', model: 'm', mode: 'auto' } as const
  const nothing = vi.fn()
  renderInApp(Pickers, { catalog, settings, holds, onchange: nothing, onkeys: nothing })
  const mode = screen.getByTitle('Permission mode')
  expect(mode.textContent).toBe(label)
  await fireEvent.keyDown(mode, { key: 'ArrowDown' })
  expect((await screen.findAllByText(new RegExp(hint)))[0]).toBeTruthy()
})
