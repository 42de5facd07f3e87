import { untrack } from 'svelte'
import { SvelteMap, SvelteSet } from 'svelte/reactivity'
import type { Call } from '../api'
import { Conversation } from './conversation.svelte'
import { recall, remember } from './remember'
import { type Sessions } from './sessions.svelte'
import { agentOf, startsAgent } from '../model/agents'
import type { ToolEntry } from '../model/entries'
import { oldestFirst } from '../model/sessions'
import type { ApprovalRequest, Envelope, SessionInfo } from '../types.gen'

/** The key of the ids of agents whose conversations are unfolded. */
const unfoldedKey = 'atelier.agents'
/** How many of them are remembered: the newest ones. */
const mostUnfolded = 100

/** A tool call that waits for the user's approval, and the conversation that takes the answer. */
export type Question = {
  conversation: Conversation
  request: ApprovalRequest
  /** The agent that asks; undefined for the open session. */
  agent?: SessionInfo
}

/**
 * The agents that sessions start (LOOP-48, LOOP-49). An agent is a session of its
 * own, whose conversation is shown inside that of the session that started it.
 */
export class Agents {
  #sessions: Sessions
  #call: Call
  #followed = new SvelteMap<string, Conversation>()
  #unfolded = new SvelteSet<string>(remembered())

  constructor(sessions: Sessions, call: Call) {
    this.#sessions = sessions
    this.#call = call
  }

  /** The agents of a session, oldest first. */
  of(parent: string | undefined): readonly SessionInfo[] {
    if (!parent) return []
    return oldestFirst(this.#sessions.list.filter(({ helper }) => helper?.parent === parent))
  }

  /** An agent by the id of its session; undefined if there is none, for example because it was deleted. */
  find(id: string | undefined): SessionInfo | undefined {
    const session = id ? this.#sessions.find(id) : undefined
    return session?.helper && session
  }

  /** The agent that a call of a session is about: also while it runs and waits for the agent. */
  ofCall(session: string, call: ToolEntry): SessionInfo | undefined {
    const named = this.find(agentOf(call))
    if (named || !startsAgent(call.tool)) return named
    return this.#sessions.list.find(
      ({ helper }) => helper?.parent === session && helper.call === call.callId,
    )
  }

  /** The conversation of an agent that is followed. */
  conversation(id: string): Conversation | undefined {
    return this.#followed.get(id)
  }

  /** Reads an agent's conversation and keeps it up to date from then on. */
  follow(id: string): void {
    if (this.#followed.has(id)) return
    const conversation = new Conversation(id, this.#call)
    this.#followed.set(id, conversation)
    void conversation.open()
  }

  receive(envelope: Envelope): void {
    this.#followed.get(envelope.session)?.receive(envelope)
  }

  /** Reads what happened while the connection was lost. */
  reopen(): void {
    for (const conversation of this.#followed.values()) void conversation.open()
  }

  /** Follows the session's busy agents, because each of them may ask a question. */
  attend(parent: string | undefined): void {
    const busy = this.of(parent).filter(({ state }) => state !== 'idle')
    untrack(() => {
      for (const { id } of busy) this.follow(id)
    })
  }

  /** Stops following agents that no longer exist or belong to another session. */
  keep(parent: string | undefined): void {
    for (const id of [...this.#followed.keys()]) {
      if (this.find(id)?.helper?.parent !== parent) this.#followed.delete(id)
    }
  }

  /** The questions that a session's agents ask, oldest agent first. */
  questions(parent: string | undefined): Question[] {
    return this.of(parent).flatMap((agent) => {
      const conversation = this.#followed.get(agent.id)
      if (!conversation) return []
      return conversation.view.pending.map((request) => ({ agent, conversation, request }))
    })
  }

  isUnfolded(id: string): boolean {
    return this.#unfolded.has(id)
  }

  unfold(id: string, open: boolean): void {
    this.#unfolded.delete(id)
    if (open) this.#unfolded.add(id)
    const newest = [...this.#unfolded].slice(-mostUnfolded)
    remember(unfoldedKey, JSON.stringify(newest))
  }
}

function remembered(): string[] {
  try {
    const value: unknown = JSON.parse(recall(unfoldedKey) || '[]')
    return Array.isArray(value) ? value.filter((id) => typeof id === 'string') : []
  } catch {
    return []
  }
}
