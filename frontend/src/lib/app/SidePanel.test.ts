import { fireEvent, render, screen, waitFor } from '@testing-library/svelte'
import FileDiff from '@lucide/svelte/icons/file-diff'
import { expect, test, vi } from 'vitest'
import type { Workbench } from '../state/workbench.svelte'
import { Lazy } from '../ui/lazy.svelte'
import type { Panel } from './panels'
import SidePanel from './SidePanel.svelte'

type View = Panel['view']['part']

const panelOf = (load: () => Promise<NonNullable<View>>): Panel => ({
  name: 'test',
  label: () => 'Test',
  hint: () => '',
  kind: 'work',
  icon: FileDiff,
  view: new Lazy(load),
})

/** A component that draws nothing and says where it was asked to go. */
const shower = (show: (target: unknown) => void) =>
  (() => ({ show })) as unknown as NonNullable<View>

test('a panel that is loaded at the second attempt goes where it was asked to', async () => {
  const show = vi.fn()
  const load = vi.fn(() => Promise.resolve(shower(show)))
  load.mockRejectedValueOnce(new Error('gone'))
  load.mockRejectedValueOnce(new Error('gone'))
  const { component } = render(SidePanel, { bench: {} as Workbench, panel: panelOf(load) })
  const retry = await screen.findByRole('button', { name: 'Try again' })
  await component.show('src/login.ts')
  expect(show).not.toHaveBeenCalled()
  await fireEvent.click(retry)
  await waitFor(() => expect(show.mock.calls).toEqual([['src/login.ts']]))
})

test('a panel that comes later than another one does not go where that was asked to', async () => {
  const show = vi.fn()
  const failing = panelOf(() => Promise.reject(new Error('gone')))
  const { component, rerender } = render(SidePanel, { bench: {} as Workbench, panel: failing })
  await component.show('src/login.ts')
  await rerender({ panel: panelOf(() => Promise.resolve(shower(show))) })
  await component.show('other')
  expect(show.mock.calls).toEqual([['other']])
})
