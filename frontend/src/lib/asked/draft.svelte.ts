import { readUnsent, writeUnsent } from '../state/unsent.svelte'

/** What the user has typed into a form and not sent, which outlives the page. */
export class AnswerDraft<T> {
  #key: string
  value = $state.raw() as T

  constructor(session: string, request: string, initial: T) {
    this.#key = `answer:${session}/${request}`
    this.value = initial
    try {
      this.value = { ...initial, ...(JSON.parse(readUnsent(this.#key) || '{}') as T) }
    } catch {
      // It was not written here.
    }
  }

  set(value: T): void {
    this.value = value
    writeUnsent(this.#key, JSON.stringify(value))
  }

  /** Forgets it, because it was sent. */
  drop(): void {
    writeUnsent(this.#key, '')
  }
}
