/** What can be done with a row of a conversation. */
import type { Component } from 'svelte'
import { createContext } from 'svelte'
import type { Row } from '../model/rows'
import type { Conversation } from '../state/conversation.svelte'
import type { CommandCall } from '../types.gen'
import type { UndoQuestion } from '../state/undo.svelte'

export type Target = {
  row: Row
  conversation: Conversation
  /** Whether it is the conversation of an agent within another one. Nothing is sent there. */
  isNested?: boolean
}

/** What actions need from the window. */
export type ActionsHost = {
  /** Sends a message to the open session, which may use a skill; false if it was not accepted. */
  send: (text: string, command?: CommandCall) => Promise<boolean>
  /** Goes to the message field. */
  compose: () => void
  /** Asks for the options of a fork at an event of a session. */
  fork: (at: { session: string; event: number }) => void
  /** Asks whether something of the open session is undone. */
  undo: (question: Omit<UndoQuestion, 'session'>) => unknown
}

export const [actionsHost, provideActionsHost] = createContext<ActionsHost>()

/** What the user is told. */
export type Done = { words: string; isBad?: boolean }

export type Action = {
  name: string
  /** The letter that does it while the row has the focus. */
  key: string
  icon: Component<{ size?: number; strokeWidth?: number }>
  label: (target: Target) => string
  /** Whether it is offered for a row as it is now. */
  offers: (target: Target) => boolean
  /** What it did; undefined if the user sees that elsewhere. */
  run: (target: Target, host: ActionsHost) => Promise<Done | undefined>
}
