import { fireEvent, screen, waitFor } from '@testing-library/svelte'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { setLanguage } from '../i18n/i18n.svelte'
import { keysOf } from '../model/keymap'
import type { Workbench } from '../state/workbench.svelte'
import { renderInApp } from '../ui/testing'
import { settingsBody } from './part'
import { tabs } from './registry'
import SettingsDialog from './SettingsDialog.svelte'

beforeAll(() => settingsBody.need())
beforeEach(() => setLanguage('en'))

const catalog = {
  keys: { keys: [{ provider: 'openai', name: 'OpenAI', vendor: true }, { provider: 'more' }] },
  providers: [],
  endpoints: [],
  loadEndpoints: () => Promise.resolve(),
  external: {},
  loadExternal: () => Promise.resolve(),
}
const bench = {
  catalog,
  preferences: { new_session: {}, layout: {} },
  project: { version: '1.0', folder: '/shop', home: '/home' },
  desktop: { consent: () => 'granted' },
  editors: { load: () => Promise.resolve() },
  store: {},
  confinement: { load: () => Promise.resolve(), measure: () => Promise.resolve() },
  make: () => ({ load: () => Promise.resolve(), rows: [] }),
  keymap: { keys: keysOf({}), choice: {}, load: () => Promise.resolve() },
} as unknown as Workbench

const show = (tab: string) =>
  renderInApp(SettingsDialog, { bench, tab, ontab: () => {}, onclose: () => {} } as never)

// So that the search finds each setting, and can go to each that it finds.
test.each(tabs)(
  'the rows of the tab $value are those of the registry',
  async ({ value, settings }) => {
    show(value)
    const more = screen.queryByRole('button', { name: 'More providers' })
    if (more) await fireEvent.click(more)
    const rows = [...document.querySelectorAll<HTMLElement>('[data-setting]')]
    const shown = rows.map((row) => row.dataset.setting)
    expect(shown).toEqual(settings(bench).map(({ id }) => id))
  },
)

test('Escape clears the search, and closes the dialog only when it is empty', async () => {
  show('models')
  const field = screen.getByRole('combobox', { name: 'Search the settings' })
  await waitFor(() => expect(document.activeElement).toBe(field))
  await fireEvent.input(field, { target: { value: 'zebra' } })
  screen.getByText('No setting matches “zebra”.')
  expect(screen.queryAllByRole('option')).toEqual([])
  await fireEvent.input(field, { target: { value: 'dark' } })
  expect(screen.getAllByRole('option').length).toBeGreaterThan(0)
  expect(await fireEvent.keyDown(field, { key: 'Escape' })).toBe(false)
  expect((field as HTMLInputElement).value).toBe('')
  screen.getByRole('tab', { name: 'Models' })
})
