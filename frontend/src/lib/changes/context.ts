import { createContext } from 'svelte'
import type { BlameStep } from '../types.gen'

/** What the changes need from the window. */
export type ChangesHost = {
  /** Opens the session of a step, at the step. */
  goToStep: (step: BlameStep) => void
}

export const [changesHost, provideChangesHost] = createContext<ChangesHost>()
