import { createContext } from 'svelte'
import type { HookFilter } from '../state/hookLog.svelte'

/** What the log of hooks and the cards of calls need from the window. */
export type HooksHost = {
  /** Goes to the card of a call, in a session that is opened for it. */
  goToCall: (session: string, call: string) => void
  /** Shows entries of a session in the log of hooks. */
  showLog: (session: string, filter: HookFilter) => void
}

export const [hooksHost, provideHooksHost] = createContext<HooksHost>()
