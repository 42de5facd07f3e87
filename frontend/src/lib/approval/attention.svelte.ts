import type { Agents, Question } from '../agents/agents.svelte'
import type { Conversation } from '../conversation/conversation.svelte'

/** What the user has to decide: in which order, where it shows, and what the dialog is about. */
export class Attention {
  /** Whether the buttons of the open session's own questions can all be seen. */
  inView = $state(true)
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

  /** Shows a question in the dialog. */
  review(question: Question | undefined): void {
    this.#reviewing = question?.request.id
  }

  /** Puts the dialog away; what it asked still waits. */
  putAway(): void {
    this.#reviewing = undefined
  }
}
