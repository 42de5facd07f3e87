import { remember } from './remember'

/** The panels beside the conversation, in the order of their tabs. */
export const panels = ['running', 'cost'] as const
export type Panel = (typeof panels)[number]

/** The key of the name of the pinned panel. */
const key = 'atelier.panel'

/** Which panel is chosen, and whether it stays open beside the conversation. */
export class PanelChoice {
  panel = $state<Panel>('cost')
  pinned = $state(false)

  constructor() {
    const name = localStorage.getItem(key)
    this.pinned = name !== null
    this.panel = panels.find((panel) => panel === name) ?? 'cost'
  }

  choose(panel: Panel): void {
    this.panel = panel
    this.#remember()
  }

  togglePinned(): void {
    this.pinned = !this.pinned
    this.#remember()
  }

  #remember(): void {
    remember(key, this.pinned ? this.panel : '')
  }
}
