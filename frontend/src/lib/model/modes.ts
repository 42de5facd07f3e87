import type { Mode } from '../types.gen'

/** The permission modes in the order of the picker, from the most careful to the least. */
export const modes: readonly Mode[] = [
  'default',
  'plan',
  'acceptEdits',
  'auto',
  'dontAsk',
  'bypassPermissions',
]

/** This mode never asks. The user chooses it deliberately, for one session; it is never saved as a preference. */
export const bypass: Mode = 'bypassPermissions'

const steps: readonly Mode[] = modes.filter((mode) => mode !== bypass)

/** The mode after Shift+Tab: the next one, but never the mode that does not ask. */
export const nextMode = (mode: Mode): Mode => steps[(steps.indexOf(mode) + 1) % steps.length]!
