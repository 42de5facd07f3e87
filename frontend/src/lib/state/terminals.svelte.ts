import { SvelteMap } from 'svelte/reactivity'
import { asApiError, type ApiError, type Call } from '../api'
import type { TerminalInfo, TerminalPiece } from '../types.gen'

/** How many characters are typed with one call. */
const mostTyped = 8_000

/** The user's own terminals, which live as long as the window. */
export class Terminals {
  /** Undefined until they were read. */
  list = $state.raw<readonly TerminalInfo[]>()
  /** The id of the one that is shown. */
  shown = $state('')
  problem = $state.raw<ApiError | null>(null)
  /** What the programs in them call themselves, by id. */
  readonly titles = new SvelteMap<string, string>()
  /** What was typed and is not sent yet, by id; a text is there while something is being sent. */
  #typed: Record<string, string> = {}
  #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  /** Reads which there are. */
  async load(): Promise<void> {
    await this.#try(async () => {
      const { terminals = [] } = await this.#call('terminal.list', {})
      this.list = terminals
      if (!terminals.some(({ id }) => id === this.shown)) this.shown = terminals.at(-1)?.id ?? ''
    })
  }

  /** Opens one in the folder of a session, and shows it. */
  async open(session: string | undefined, rows: number, columns: number): Promise<void> {
    await this.#try(async () => {
      const opened = await this.#call('terminal.open', { session, rows, columns })
      this.list = [...(this.list ?? []), opened]
      this.shown = opened.id
    })
  }

  /** Closes one, with what runs in it, and shows its neighbour. */
  async close(id: string): Promise<void> {
    await this.#try(() => this.#call('terminal.close', { id }), 'terminal_gone')
    this.#drop(id)
  }

  /** Types a text, after what was typed before it. */
  async type(id: string, text: string): Promise<void> {
    const before = this.#typed[id]
    this.#typed[id] = (before ?? '') + text
    if (before !== undefined) return
    for (let rest; (rest = this.#typed[id]);) {
      this.#typed[id] = rest.slice(mostTyped)
      const piece = { id, text: rest.slice(0, mostTyped) }
      if (!(await this.#try(() => this.#call('terminal.write', piece)))) break
    }
    delete this.#typed[id]
  }

  async resize(id: string, rows: number, columns: number): Promise<void> {
    await this.#try(() => this.#call('terminal.resize', { id, rows, columns }), 'terminal_gone')
  }

  /**
   * Reads what a terminal prints, each piece once the one before it was drawn, until the signal or
   * the end of the shell. A connection that was lost is waited for.
   */
  async follow(
    id: string,
    from: number,
    draw: (piece: TerminalPiece) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    for (let at = from; !signal.aborted;) {
      let piece: TerminalPiece
      try {
        piece = await this.#call('terminal.read', { id, from: at })
      } catch (thrown) {
        if (asApiError(thrown).id === 'terminal_gone') return this.#drop(id)
        await new Promise((resolve) => setTimeout(resolve, 1000))
        continue
      }
      if (signal.aborted) return
      at = piece.next
      await draw(piece)
      if (piece.ended) return this.#end(id, piece.exit_code ?? 0)
    }
  }

  #end(id: string, exit_code: number) {
    this.list = this.list?.map((it) => (it.id === id ? { ...it, ended: true, exit_code } : it))
  }

  #drop(id: string) {
    const at = this.list?.findIndex((it) => it.id === id) ?? -1
    this.list = this.list?.filter((it) => it.id !== id)
    this.titles.delete(id)
    if (this.shown === id) this.shown = (this.list?.[at] ?? this.list?.at(-1))?.id ?? ''
  }

  /** Reports whether it went well. A problem that is expected is not shown. */
  async #try(work: () => Promise<unknown>, expected?: string): Promise<boolean> {
    try {
      await work()
      this.problem = null
      return true
    } catch (thrown) {
      const problem = asApiError(thrown)
      if (problem.id !== expected) this.problem = problem
      return false
    }
  }
}
