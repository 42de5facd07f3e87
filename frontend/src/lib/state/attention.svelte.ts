import { SvelteMap } from 'svelte/reactivity'
import type { Agents, Question } from './agents.svelte'
import type { Conversation } from './conversation.svelte'

/** What the user has to decide: in which order, where it shows, and what the dialog is about. */
export class Attention {
  /** Of the questions that are shown, whether their buttons can be seen. */
  readonly #seen = new SvelteMap<string, boolean>()
  /** The question that the dialog shows, by its id. */
  #reviewing = $state<string>()
  #conversation: () => Conversation | null
  #agents: Agents

  constructor(conversation: () => Conversation | null, agents: Agents) {
    this.#conversation = conversation
    this.#agents = agents
    $effect(() => {
      // The dialog stays with the question it shows, and then takes the next.
      if (this.#reviewing !== undefined) this.#reviewing = this.question?.request.id
    })
  }

  /** Whether the open session's own questions can all be answered where they stand. */
  readonly inView = $derived.by(() => {
    const pending = this.#conversation()?.view.pending ?? []
    return pending.every(({ id }) => this.#seen.get(id) !== false)
  })
  /** Every question. What agents ask is out of view wherever their parent's conversation stands. */
  readonly asked = $derived.by<Question[]>(() => {
    const conversation = this.#conversation()
    const pending = conversation?.view.pending ?? []
    const own = conversation ? pending.map((request) => ({ conversation, request })) : []
    const others = this.#agents.questions(conversation?.id)
    return this.inView ? [...others, ...own] : [...own, ...others]
  })
  readonly outOfView = $derived(this.asked.filter(({ agent }) => agent || !this.inView))
  /** The question that the dialog shows. */
  readonly question = $derived(
    this.#reviewing === undefined
      ? undefined
      : (this.asked.find(({ request }) => request.id === this.#reviewing) ?? this.asked[0]),
  )

  see = (approval: string, inView: boolean | undefined): void => {
    if (inView === undefined) this.#seen.delete(approval)
    else this.#seen.set(approval, inView)
  }

  /** Shows a question in the dialog. */
  review(question: Question | undefined): void {
    this.#reviewing = question?.request.id
  }

  /** Puts the dialog away; what it asked still waits. */
  putAway(): void {
    this.#reviewing = undefined
  }
}
