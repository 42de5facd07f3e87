/** How wide the panes beside the conversation are, in CSS pixels. */

export type Bounds = { least: number; most: number }
export type PaneLimits = Bounds & { usual: number }

export const sidebarLimits: PaneLimits = { least: 200, usual: 260, most: 480 }
export const panelLimits: PaneLimits = { least: 280, usual: 360, most: 720 }

/** What the conversation keeps, however wide the panes are wished. */
const conversation = 380

/** The bounds of a pane in a window with other panes. */
export function bounds({ least, most }: PaneLimits, window: number, others: number): Bounds {
  return { least, most: Math.max(least, Math.min(most, window - others - conversation)) }
}

/** The width that comes nearest to a wish; 0 or nothing wishes for the usual. */
export function paneWidth(wish: number | undefined, { usual }: PaneLimits, within: Bounds): number {
  return clamp(wish || usual, within)
}

export const clamp = (width: number, { least, most }: Bounds) =>
  Math.round(Math.min(most, Math.max(least, width)))
