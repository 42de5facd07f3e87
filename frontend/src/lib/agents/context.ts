import { createContext } from 'svelte'
import type { Conversation } from '../state/conversation.svelte'
import type { Picture } from '../model/pictures'
import type { Density } from '../model/rows'
import type { Agents } from '../state/agents.svelte'

/** What the cards of agents need from the window, at any depth of a conversation. */
export type AgentsHost = {
  agents: Agents
  /** How much of finished turns is drawn. */
  density: Density
  /** Opens an agent's session like any other session. */
  open: (id: string) => void
  isScript: (provider: string, model: string) => boolean
  /** The name of a model as the list of models shows it. */
  modelName: (provider: string, model: string) => string
  showWhole: (conversation: Conversation, seq: number) => void
  /** Called before something unfolds or folds that should not move the rest. */
  hold: () => void
  enlarge: (picture: Picture) => void
  openKeys: () => void
  /** Goes to a question that waits for the user. */
  answer: (approval: string) => void
  /** Reports whether a server asks the user something during a call. */
  asks: (session: string, call: string) => boolean
  /** Goes to the question of a server. */
  answerServer: () => void
}

export const [agentsHost, provideAgentsHost] = createContext<AgentsHost>()
