import { type ApiError, asApiError, type Call } from '../api'
import type { SentPrompt } from '../types.gen'

/** What a person sent before, in this project or in all, to send it again. */
export class Prompts {
  /** Whether the dialog that looks for it is open. */
  open = $state(false)
  wanted = $state('')
  /** Whether the sessions of all projects are looked into. */
  all = $state(false)
  found = $state.raw<readonly SentPrompt[]>([])
  more = $state(false)
  busy = $state(false)
  problem = $state.raw<ApiError | null>(null)
  #asked = 0
  #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  begin(): void {
    this.open = true
    this.look('', this.all)
  }

  /** Looks for messages with some words. An answer to an earlier question is dropped. */
  look(wanted: string, all: boolean): void {
    this.wanted = wanted
    this.all = all
    void this.#read(++this.#asked)
  }

  async #read(asked: number): Promise<void> {
    this.busy = true
    try {
      const reply = await this.#call('prompts.list', { text: this.wanted.trim(), all: this.all })
      if (asked !== this.#asked) return
      this.found = reply.prompts ?? []
      this.more = reply.more ?? false
      this.problem = null
    } catch (thrown) {
      if (asked !== this.#asked) return
      this.found = []
      this.problem = asApiError(thrown)
    }
    this.busy = false
  }

  close(): void {
    this.#asked++
    this.open = this.busy = false
    this.found = []
  }

  /** The newest messages of the project; none if they cannot be read. */
  async newest(): Promise<readonly SentPrompt[]> {
    try {
      return (await this.#call('prompts.list', {})).prompts ?? []
    } catch {
      return []
    }
  }
}
