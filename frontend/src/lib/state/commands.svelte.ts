import { asApiError, type ApiError, type Call } from '../api'
import { oneAtATime } from '../model/oneAtATime'
import type { CompleteReply, SlashCommand } from '../types.gen'

/** What can be typed after a slash in the message field. */
export class Commands {
  list = $state.raw<readonly SlashCommand[]>([])
  #session = ''
  #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  follow(session: string | undefined): void {
    this.#session = session ?? ''
    void this.load()
  }

  readonly load = oneAtATime(async () => {
    try {
      const { commands } = await this.#call('commands.list', { session: this.#at })
      this.list = commands ?? []
    } catch {
      this.list = [] // what is typed is then an ordinary message
    }
  })

  /** The text that a command stands for, or why it stands for none. */
  async expand(
    name: string,
    values: Record<string, string>,
  ): Promise<{ text: string } | { problem: ApiError }> {
    try {
      return await this.#call('commands.expand', { session: this.#at, name, arguments: values })
    } catch (thrown) {
      return { problem: asApiError(thrown) }
    }
  }

  /** Values of an argument that begin with what is typed. */
  async complete(
    { name }: SlashCommand,
    argument: string,
    value: string,
    values: Record<string, string>,
  ): Promise<CompleteReply> {
    const others = Object.fromEntries(Object.entries(values).filter(([key]) => key !== argument))
    try {
      return await this.#call('commands.complete', { name, argument, value, arguments: others })
    } catch {
      return {}
    }
  }

  get #at(): string | undefined {
    return this.#session || undefined
  }
}
