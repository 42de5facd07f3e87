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

export const nextMode = (mode: Mode): Mode => modes[(modes.indexOf(mode) + 1) % modes.length]!
