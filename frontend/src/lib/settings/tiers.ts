import type { ToolTier } from '../types.gen'

/** The tiers of tools, in the order in which Settings shows them. */
export const tiers: readonly ToolTier[] = ['core', 'advanced', 'specialist']
