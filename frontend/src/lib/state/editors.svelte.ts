import type { Call } from '../api'
import type { EditorAnswer, EditorList as Found } from '../types.gen'

/** The editors in which files of the project can be opened. */
export class Editors {
  /** Undefined until they were looked for. */
  list = $state.raw<Found>()
  #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  /** Looks for installed editors. */
  async load(): Promise<void> {
    this.list = await this.#call('editors.list', {})
  }

  /** Finds the program of a command; throws if there is none. */
  check = (command: string): Promise<EditorAnswer> => this.#call('editors.check', { command })

  /** Opens a file of the project with a command, which need not be stored. */
  try = (command: string): Promise<EditorAnswer> => this.#call('editors.try', { command })
}
