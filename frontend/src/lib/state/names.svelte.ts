import type { Call } from '../api'
import { namesOf } from '../model/mention'
import { oneAtATime } from '../model/oneAtATime'

/** The names of the project's files, which a message can mention. */
export class Names {
  list = $state.raw<readonly string[]>([])
  #call: Call
  #session: () => string | undefined

  constructor(call: Call, session: () => string | undefined) {
    this.#call = call
    this.#session = session
  }

  /** Reads them again; until then the known ones stay. */
  readonly load = oneAtATime(async () => {
    try {
      const { files } = await this.#call('files.list', { session: this.#session() })
      // A name in quotes has control characters.
      this.list = namesOf((files ?? []).filter((name) => !name.startsWith('"')))
    } catch {
      this.list = [] // a name can be typed all the same
    }
  })
}
