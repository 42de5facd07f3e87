import { type ApiError, asApiError, type Call } from '../api'
import type { MemoFile, MemoScope } from '../types.gen'

/** A note for all sessions, which is shown before it is written into a file of instructions. */
export class Memo {
  open = $state(false)
  text = $state('')
  scope = $state<MemoScope>('project')
  /** What would be written, or was. */
  file = $state.raw<MemoFile>()
  saved = $state(false)
  busy = $state(false)
  problem = $state.raw<ApiError | null>(null)
  /** Called once the note is written. */
  #onsaved = () => {}
  #asked = 0
  #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  begin(text: string, scope: MemoScope = 'project', onsaved = () => {}): void {
    this.open = true
    this.saved = false
    this.file = undefined
    this.#onsaved = onsaved
    this.change(text, scope)
  }

  /** Changes the note, and shows what would be written. */
  change(text: string, scope: MemoScope): void {
    this.text = text
    this.scope = scope
    void this.#ask('memo.preview')
  }

  async save(): Promise<void> {
    this.busy = true
    if (await this.#ask('memo.add')) {
      this.saved = true
      this.#onsaved()
    }
    this.busy = false
  }

  close(): void {
    this.#asked++
    this.open = this.busy = false
  }

  async #ask(method: 'memo.preview' | 'memo.add'): Promise<boolean> {
    const asked = ++this.#asked
    try {
      const file = await this.#call(method, { scope: this.scope, text: this.text })
      if (asked !== this.#asked) return false
      this.file = file
      this.problem = null
      return true
    } catch (thrown) {
      if (asked === this.#asked) this.problem = asApiError(thrown)
      return false
    }
  }
}
