import type { Call } from '../api'
import type { BlameReply } from '../types.gen'

/** Who wrote the file that is shown, if the user wishes to see it. */
export class Authors {
  wished = $state(false)
  reply = $state.raw<BlameReply>()
  /** What is read; the answer of an earlier reading is dropped. */
  #reading?: object
  #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  /** Reads who wrote a file of the project, or of the worktree of a session that has one. */
  async read(path: string, session?: string): Promise<void> {
    const reading = (this.#reading = {})
    if (!this.wished) return
    const reply = await this.#call('files.blame', { session, path })
    if (this.#reading === reading) this.reply = reply
  }

  clear(): void {
    this.#reading = this.reply = undefined
  }
}
