import { SvelteMap, SvelteSet } from 'svelte/reactivity'
import { type ApiError, asApiError, type Call } from '../api'
import type { ServerImport, ServerImportInput, ServerImportSource } from '../types.gen'
import { type HookScope } from './hookEditor.svelte'

/** The MCP servers that other programs of the user have, and which of them the user wants. */
export class ServerImports {
  sources = $state.raw<readonly ServerImportSource[]>([])
  loaded = $state(false)
  scope = $state<HookScope>('user')
  problem = $state.raw<ApiError | null>(null)
  /** The values that files ask a person for, by the file and the id. */
  readonly inputs = new SvelteMap<string, string>()
  readonly #chosen = new SvelteSet<string>()
  #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  get count(): number {
    return this.#chosen.size
  }

  async load(): Promise<void> {
    try {
      this.sources = (await this.#call('mcp.importable', {})).sources ?? []
      this.loaded = true
    } catch (thrown) {
      this.problem = asApiError(thrown)
    }
  }

  has = ({ path }: ServerImportSource, { draft }: ServerImport): boolean =>
    this.#chosen.has(keyOf(path, draft.name))

  choose({ path }: ServerImportSource, { draft }: ServerImport, wanted: boolean): void {
    const key = keyOf(path, draft.name)
    if (wanted) this.#chosen.add(key)
    else this.#chosen.delete(key)
  }

  /** What the chosen servers of a file ask for. */
  asked(source: ServerImportSource): ServerImportInput[] {
    const wanted = (source.servers ?? []).filter((server) => this.has(source, server))
    const all = wanted.flatMap(({ inputs = [] }) => inputs)
    return all.filter(({ id }, at) => all.findIndex((other) => other.id === id) === at)
  }

  /** Imports what was chosen, file by file, and returns how many servers that were. */
  async import(): Promise<number> {
    this.problem = null
    let count = 0
    for (const source of this.sources) {
      const names = (source.servers ?? [])
        .filter((server) => this.has(source, server))
        .map(({ draft }) => draft.name)
      if (names.length === 0) continue
      const inputs = Object.fromEntries(
        this.asked(source).map(({ id }) => [id, this.inputs.get(keyOf(source.path, id)) ?? '']),
      )
      try {
        await this.#call('mcp.import', {
          path: source.path,
          seal: source.seal ?? '',
          names,
          scope: this.scope,
          inputs,
        })
        count += names.length
        for (const name of names) this.#chosen.delete(keyOf(source.path, name))
      } catch (thrown) {
        this.problem = asApiError(thrown)
        break
      }
    }
    return count
  }
}

export const keyOf = (path: string, name: string): string => `${path}\n${name}`
