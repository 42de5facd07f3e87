import { createContext } from 'svelte'
import type { HookFilter } from '../state/hookLog.svelte'

/** What the log of hooks, the cards of calls and who changed a file need from the window. */
export type HooksHost = {
  /** Opens a session, and goes to the card of a call or a command in it, of which an event may be known; without a call, to the message before the event. */
  goToCall: (session: string, call: string, seq?: number) => void
  /** Shows entries of a session in the log of hooks. */
  showLog: (session: string, filter: HookFilter) => void
}

export const [hooksHost, provideHooksHost] = createContext<HooksHost>()
