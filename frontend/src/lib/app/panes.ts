/** The widths of the panes beside the conversation, in CSS pixels. */

export type Bounds = { least: number; most: number }
export type PaneLimits = Bounds & { usual: number }

export const sidebarLimits: PaneLimits = { least: 200, usual: 240, most: 480 }
export const panelLimits: PaneLimits = { least: 280, usual: 420, most: 960 }
export const railWidth = 44
export const namedRailWidth = 132

/** The minimum width of the conversation. */
const conversation = 380

/** The bounds of a pane in a window of a width, given the width of the other panes. */
export function bounds({ least, most }: PaneLimits, window: number, others: number): Bounds {
  return { least, most: Math.max(least, Math.min(most, window - others - conversation)) }
}

/** The allowed width nearest to the wanted one; 0 or undefined is the default. */
export function paneWidth(wish: number | undefined, { usual }: PaneLimits, within: Bounds): number {
  return clamp(wish || usual, within)
}

export const clamp = (width: number, { least, most }: Bounds) =>
  Math.round(Math.min(most, Math.max(least, width)))
