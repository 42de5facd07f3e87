import { expect, test } from 'vitest'
import type { Workbench } from '../state/workbench.svelte'
import type { Layout, Preferences } from '../types.gen'
import { Arrangement } from './arrangement.svelte'

/** The panes of a window, and the layout that is stored. */
function panes(layout: Layout) {
  const bench = {
    preferences: { layout },
    prefer: async (change: Partial<Preferences>) => Object.assign(bench.preferences, change),
  }
  return { panes: new Arrangement(bench as unknown as Workbench), bench }
}

test('a panel that was closed once does not open by itself', () => {
  const mayOpen = (layout: Layout, width = 1280) => {
    const { panes: it } = panes(layout)
    it.width = width
    return it.mayOpenPanel
  }
  expect(mayOpen({})).toBe(true)
  expect(mayOpen({}, 900)).toBe(false)
  expect(mayOpen({ panel_shown: false })).toBe(false)
  expect(mayOpen({ panel_shown: true })).toBe(false)
})

test('a panel that a narrow window hides is back in a wide one', () => {
  const { panes: it, bench } = panes({ panel_shown: true })
  expect(it.panelShown).toBe(true)
  it.width = 900
  expect(it.panelShown).toBe(false)
  it.togglePanel()
  expect(it.panelShown).toBe(true)
  it.sink()
  expect(it.panelShown).toBe(false)
  it.width = 1280
  expect(it.panelShown).toBe(true)
  expect(bench.preferences.layout).toEqual({ panel_shown: true })
})
