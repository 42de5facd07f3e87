import { type ApiError, asApiError, type Call } from '../api'
import { type Choice, type Command, keysOf, withKeys } from '../model/keymap'
import type { KeyFile } from '../types.gen'

/** The keys of the window's commands, as the user's file has them. */
export class Keymap {
  file = $state.raw<KeyFile>()
  problem = $state.raw<ApiError | null>(null)
  readonly choice = $derived<Choice>({
    preset: this.file?.preset ?? '',
    keys: (this.file?.keys ?? {}) as Record<string, string[]>,
  })
  readonly keys = $derived(keysOf(this.choice))
  #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  /** Reads the file, which may have been written by hand. Until it is read, the usual keys hold. */
  async load(): Promise<void> {
    try {
      this.file = await this.#call('keymap.get', {})
    } catch {
      // The keys stay as they are; the page about them says what is wrong when it saves.
    }
  }

  choosePreset(preset: string): Promise<void> {
    return this.#save({ ...this.choice, preset })
  }

  /** Gives a command other keys; undefined gives it those of the preset. */
  change(command: Command, keys: readonly string[] | undefined): Promise<void> {
    return this.#save(withKeys(this.choice, command, keys))
  }

  /** Gives all commands the usual keys. */
  reset(): Promise<void> {
    return this.#save({})
  }

  async #save({ preset, keys }: Choice): Promise<void> {
    this.problem = null
    try {
      const file = { preset: preset || undefined, keys: keys as Record<string, string[]> }
      this.file = await this.#call('keymap.set', file)
    } catch (thrown) {
      this.problem = asApiError(thrown)
    }
  }
}
