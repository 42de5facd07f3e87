import { SvelteMap } from 'svelte/reactivity'
import type { Agents, Question } from './agents.svelte'
import type { Conversation } from './conversation.svelte'

/** The questions that the user has to answer: their order, whether they are in view, and which one the dialog shows. */
export class Attention {
  /** Whether the buttons of each rendered question are in view, by its id. */
  readonly #seen = new SvelteMap<string, boolean>()
  /** The id of the question that the dialog shows. */
  #reviewing = $state<string>()
  #conversation: () => Conversation | null
  #agents: Agents

  constructor(conversation: () => Conversation | null, agents: Agents) {
    this.#conversation = conversation
    this.#agents = agents
    $effect(() => {
      // The dialog stays with its question until that is answered, then it shows the next.
      if (this.#reviewing !== undefined) this.#reviewing = this.question?.request.id
    })
  }

  /** Whether all questions of the open session itself can be answered in the conversation. */
  readonly inView = $derived.by(() => {
    const pending = this.#conversation()?.view.pending ?? []
    return pending.every(({ id }) => this.#seen.get(id) !== false)
  })
  /** All questions. Those of agents count as out of view, wherever the conversation is scrolled to. */
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

  /** Closes the dialog without an answer; the question still waits. */
  putAway(): void {
    this.#reviewing = undefined
  }
}
