import type { Call } from '../api'
import { Conversation } from './conversation.svelte'
import { recall, remember } from './remember'

/** How many recently opened conversations are kept. */
const mostKept = 8

/** The conversations that were opened last, which keep their scroll position and their unfolded cards. */
export class RecentConversations {
  /** The newest one is the last. */
  #kept: Conversation[] = []
  #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  /** Returns the conversation of a session. It may have to be read again. */
  conversation(id: string): Conversation {
    const conversation =
      this.#kept.find((other) => other.id === id) ?? new Conversation(id, this.#call)
    const others = this.#kept.filter((other) => other !== conversation)
    this.#kept = [...others, conversation].slice(-mostKept)
    return conversation
  }

  forget(id: string): void {
    this.#kept = this.#kept.filter((other) => other.id !== id)
  }
}

const keyOf = (folder: string) => `atelier.open:${folder}`

/** The session that was open last in a project; empty if none was. */
export const lastOpen = (folder: string): string => recall(keyOf(folder))

export const rememberOpen = (folder: string, id: string): void => remember(keyOf(folder), id)
