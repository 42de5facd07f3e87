import { createContext } from 'svelte'
import type { Conversation } from '../state/conversation.svelte'
import type { Picture } from '../model/pictures'
import type { Agents } from '../state/agents.svelte'

/** What the cards of agents, at any depth of a conversation, ask of the window. */
export type AgentsHost = {
  agents: Agents
  /** Shows an agent's session as one of its own. */
  open: (id: string) => void
  isScript: (provider: string, model: string) => boolean
  showWhole: (conversation: Conversation, seq: number) => void
  /** Told before something is opened or folded that should not move the rest. */
  hold: () => void
  enlarge: (picture: Picture) => void
  openKeys: () => void
}

export const [agentsHost, provideAgentsHost] = createContext<AgentsHost>()
