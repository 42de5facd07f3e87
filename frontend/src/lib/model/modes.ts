import type { Mode } from '../types.gen'

/** The permission modes, from careful to free, as the picker shows them. */
export const modes: readonly Mode[] = [
  'default',
  'plan',
  'acceptEdits',
  'auto',
  'dontAsk',
  'bypassPermissions',
]

/** Asks nothing. It is chosen on purpose, for one session, and never a preference. */
export const bypass: Mode = 'bypassPermissions'

const steps: readonly Mode[] = modes.filter((mode) => mode !== bypass)

/** Where Shift+Tab leads: from mode to mode, but never into the one that asks nothing. */
export const nextMode = (mode: Mode): Mode => steps[(steps.indexOf(mode) + 1) % steps.length]!
