import type { Agents, Question } from './agents.svelte'
import type { Conversation } from './conversation.svelte'
import { following, inOrderOfArrival } from '../model/approvals'

/** The questions that the user has to answer, and which of them is shown. */
export class Attention {
  #conversation: () => Conversation | null
  #agents: Agents
  /** The ids of the questions, in the order in which they came. */
  #order = $state.raw<readonly string[]>([])
  #shown = $state<string>()

  /** The questions of the open session and of its agents, as they come. */
  readonly #all = $derived.by<Question[]>(() => {
    const conversation = this.#conversation()
    const pending = conversation?.view.pending ?? []
    const own = conversation ? pending.map((request) => ({ conversation, request })) : []
    return [...own, ...this.#agents.questions(conversation?.id)]
  })
  /** All questions, the oldest first. */
  readonly asked = $derived.by<Question[]>(() => {
    const ids = inOrderOfArrival(
      this.#order,
      this.#all.map(({ request }) => request.id),
    )
    return ids.map((id) => this.#all.find(({ request }) => request.id === id)!)
  })
  readonly #ids = $derived(this.asked.map(({ request }) => request.id))
  /** The question that is shown. */
  readonly question = $derived.by(() => {
    const id = this.#shown ? following(this.#order, this.#shown, this.#ids) : this.#ids[0]
    return this.asked.find(({ request }) => request.id === id)
  })
  /** Its place among the others, from 1. */
  readonly place = $derived(this.question ? this.asked.indexOf(this.question) + 1 : 0)

  constructor(conversation: () => Conversation | null, agents: Agents) {
    this.#conversation = conversation
    this.#agents = agents
    $effect(() => {
      const [shown, ids] = [this.question?.request.id, this.#ids]
      this.#shown = shown
      if (ids.join() !== this.#order.join()) this.#order = ids
    })
  }

  /** Shows a question. */
  show(approval: string | undefined): void {
    if (approval !== undefined && this.#ids.includes(approval)) this.#shown = approval
  }

  /** Shows the next question, or the previous one for -1, and wraps around at the end. */
  step(by: 1 | -1): void {
    const count = this.asked.length
    if (count > 0) this.#shown = this.#ids[(this.place - 1 + by + count) % count]
  }
}
