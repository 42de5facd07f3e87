/** Where the panes of the window are, and how wide: what the user chose, as far as the window has room for it. */
import type { Layout } from '../types.gen'
import type { Workbench } from '../state/workbench.svelte'
import { bounds, panelLimits, namedRailWidth, paneWidth, railWidth, sidebarLimits } from './panes'
import { arranged, type Panel, panelOf } from './panels'

export class Arrangement {
  /** The width of the window. */
  width = $state(1280)
  /** In a narrow window the sidebar floats over the conversation and is shown only on demand. */
  readonly floats = $derived(this.width < 760)
  /** Below this width the panel floats as well. */
  readonly overlays = $derived(this.width < 1000)
  #floating = $state(false)
  #overlaid = $state(false)

  readonly layout = $derived.by<Layout>(() => this.bench.preferences?.layout ?? {})
  readonly sidebar = $derived(this.floats ? this.#floating : !this.layout.sidebar_hidden)
  readonly panel = $derived.by<Panel>(() => panelOf(this.layout.panel))
  /** The panels of the rail, in the user's order. */
  readonly rail = $derived(
    arranged(this.layout.rail)
      .filter(({ hidden }) => !hidden)
      .map(({ panel }) => panel),
  )
  readonly panelCovers = $derived(this.overlays && this.#overlaid)
  readonly panelShown = $derived(
    this.overlays ? this.#overlaid : (this.layout.panel_shown ?? false),
  )

  /** Whether a pane lies over the conversation, which then takes neither focus nor keys. */
  readonly covered = $derived((this.floats && this.#floating) || this.panelCovers)

  /** A narrow window has no room for the rail, which then comes with the panel. */
  readonly railWidth = $derived(this.layout.rail_names ? namedRailWidth : railWidth)
  readonly #rail = $derived(this.floats ? 0 : this.railWidth)
  // The sidebar gets its width first, the panel shares what is left.
  readonly #besideSidebar = $derived(
    this.#rail + (this.panelShown && !this.overlays ? panelLimits.least : 0),
  )
  readonly sidebarBounds = $derived(bounds(sidebarLimits, this.width, this.#besideSidebar))
  readonly #besidePanel = $derived(
    this.sidebar && !this.floats
      ? paneWidth(this.layout.sidebar_width, sidebarLimits, this.sidebarBounds)
      : 0,
  )
  readonly panelBounds = $derived(bounds(panelLimits, this.width, this.#rail + this.#besidePanel))

  constructor(private readonly bench: Workbench) {}

  change(change: Layout): void {
    void this.bench.prefer({ layout: { ...this.layout, ...change } })
  }

  toggleSidebar(): void {
    if (this.floats) {
      this.#floating = !this.#floating
      this.#overlaid = false // one at a time lies over the conversation
    } else this.change({ sidebar_hidden: this.sidebar })
  }

  /** Whether the panel may open by itself: nobody has closed it. */
  get mayOpenPanel(): boolean {
    return !this.overlays && this.layout.panel_shown === undefined
  }

  togglePanel(): void {
    if (this.overlays) {
      this.#overlaid = !this.#overlaid
      this.#floating = false
    } else this.change({ panel_shown: !this.panelShown })
  }

  showPanel(name: string): void {
    this.change({ panel: name, ...(!this.overlays && { panel_shown: true }) })
    this.#overlaid = this.overlays
    this.#floating = false
  }

  /** Hides a sidebar that floats over the conversation. */
  sinkSidebar(): void {
    this.#floating = false
  }

  /** Hides a panel that floats over the conversation. */
  sinkPanel(): void {
    this.#overlaid = false
  }

  /** Hides a pane that floats over the conversation; false if none does. */
  sink(): boolean {
    if (this.floats && this.#floating) this.sinkSidebar()
    else if (this.overlays && this.#overlaid) this.sinkPanel()
    else return false
    return true
  }
}
