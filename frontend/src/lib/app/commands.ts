/** What the window's keys do. */
import { densityOf, nextDensity } from '../model/rows'
import { inbox, neighbour } from '../model/sessions'
import type Sidebar from '../sessions/Sidebar.svelte'
import type { SettingsTab } from '../settings/registry'
import { calendar } from '../state/clock.svelte'
import type { Workbench } from '../state/workbench.svelte'
import type { Command } from '../model/keymap'
import type { Arrangement } from './arrangement.svelte'
import type Main from './Main.svelte'
import { moveRegion } from './regions'

type Parts = {
  bench: Workbench
  panes: Arrangement
  /** Uncovers the conversation, and then does something in it. */
  inMain: (act: (it: ReturnType<typeof Main>) => void) => void
  /** The sidebar, which is shown first. */
  shownSidebar: () => Promise<ReturnType<typeof Sidebar> | undefined>
  /** Opens a panel, at a part of it. */
  show: (panel: string, target?: unknown) => Promise<void>
  /** Opens a session. */
  open: (id: string) => void
  compose: () => void
  settings: (tab: SettingsTab) => void
  palette: () => void
  /** Shows the sheet of keys. */
  sheet: () => void
}

export function commandsOf(parts: Parts): Record<Command, () => void> {
  const { bench, panes, inMain, shownSidebar, show, open, compose, settings, palette, sheet } =
    parts

  /** Opens the next or the previous session of the list. */
  function step(by: 1 | -1) {
    const groups = inbox(bench.sessions.shown, calendar.now)
    const next = neighbour(groups, bench.conversation?.id, by)
    if (next) open(next)
  }
  const openPicker = (id: string) => inMain(() => document.getElementById(id)?.click())

  return {
    new: compose,
    sidebar: () => panes.toggleSidebar(),
    panel: () => panes.togglePanel(),
    palette,
    terminal: () =>
      panes.panelShown && panes.panel.name === 'terminal'
        ? panes.togglePanel()
        : void show('terminal', {}),
    filter: () => void shownSidebar().then((it) => it?.focusFilter()),
    projects: () => void shownSidebar().then((it) => it?.openProjects()),
    search: () => bench.search.open(),
    find: () => inMain((it) => it.find()),
    find_next: () => inMain((it) => it.find(1)),
    find_previous: () => inMain((it) => it.find(-1)),
    density: () => panes.change({ density: nextDensity(densityOf(panes.layout.density)) }),
    settings: () => settings('keys'),
    help: () => settings('shortcuts'),
    sheet,
    model: () => openPicker('model-picker'),
    effort: () => openPicker('effort-picker'),
    mode: () => openPicker('mode-picker'),
    history: () => inMain(() => bench.prompts.begin()),
    enlarge: () => inMain((it) => it.enlarge()),
    remember: () => inMain(() => bench.memo.begin('')),
    next_session: () => step(1),
    previous_session: () => step(-1),
    review: () => inMain((it) => void (it.review() || show('waiting', 'first'))),
    composer: () => inMain((it) => it.focusComposer()),
    next_message: () => inMain((it) => it.walk(1)),
    previous_message: () => inMain((it) => it.walk(-1)),
    next_region: () => moveRegion(1),
    previous_region: () => moveRegion(-1),
  }
}
