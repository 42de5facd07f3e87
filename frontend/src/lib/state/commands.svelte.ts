import { asApiError, type ApiError, type Call } from '../api'
import { oneAtATime } from '../model/oneAtATime'
import { commandOf } from '../model/slash'
import type { CompleteReply, SlashCommand } from '../types.gen'

/** What can be typed after a slash in the message field. */
export class Commands {
  list = $state.raw<readonly SlashCommand[]>([])
  /** The argument that is missing in the command that was last sent; empty if none is. */
  missing = $state('')
  #session = ''
  #call: Call
  #report: (problem: ApiError) => void

  constructor(call: Call, report: (problem: ApiError) => void) {
    this.#call = call
    this.#report = report
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

  /** What is sent for a text: what its command stands for, else the text; undefined if it has to be changed first. */
  async expand(text: string): Promise<string | undefined> {
    const { command, values, missing = '' } = commandOf(text, this.list) ?? {}
    this.missing = missing
    if (!command) return text
    if (missing) return undefined
    try {
      const request = { session: this.#at, name: command.name, arguments: values }
      return (await this.#call('commands.expand', request)).text
    } catch (thrown) {
      this.#report(asApiError(thrown))
      return undefined
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
