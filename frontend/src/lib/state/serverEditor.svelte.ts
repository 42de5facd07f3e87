import { asApiError, type Call } from '../api'
import {
  draftOf,
  emptyFields,
  emptyValue,
  fieldsFromJSON,
  fieldsOf,
  isSecretLike,
  isWhole,
  type NamedValue,
  type ServerFields,
} from '../model/serverDraft'
import type { ServerRow, ServerTestReply } from '../types.gen'
import { Attempts } from './resource.svelte'
import { type HookScope } from './hookEditor.svelte'

/** An MCP server that the user writes or changes, and how a test of it went. */
export class ServerEditor extends Attempts {
  fields = $state.raw<ServerFields>(emptyFields)
  scope = $state<HookScope>('user')
  /** The server that it replaces. */
  readonly instead?: ServerRow
  /** How the test of what is written went; undefined if it was not tested since it changed. */
  tested = $state.raw<ServerTestReply>()
  testing = $state(false)

  constructor(call: Call, row?: ServerRow) {
    super(call)
    this.instead = row
    if (row) this.fields = fieldsOf(row.draft)
  }

  /** Whether it can be tested and saved. */
  readonly ready = $derived(isWhole(this.fields))

  change(change: Partial<ServerFields>): void {
    this.fields = { ...this.fields, ...change }
    this.tested = undefined
    this.problem = null
  }

  /** Changes the value at a place; beyond the last, adds one. */
  setValue(at: number, change: Partial<NamedValue>): void {
    const values = [...this.fields.values]
    const before = values[at] ?? emptyValue
    const next = { ...before, ...change }
    // A value that is replaced is no longer the one in the keyring.
    if (change.value !== undefined || change.name !== undefined)
      next.kept = before.kept && !next.value
    if (change.name !== undefined && !before.secret) next.secret = isSecretLike(next)
    values[at] = next
    this.change({ values })
  }

  removeValue(at: number): void {
    this.change({ values: this.fields.values.filter((_, place) => place !== at) })
  }

  /** Takes what was pasted if it is a definition in JSON; false if it is something else. */
  paste(text: string): boolean {
    const found = fieldsFromJSON(text)
    if (!found) return false
    const values = found.values.map((it) => ({ ...it, kept: false, secret: isSecretLike(it) }))
    this.change({ ...found, values, name: found.name || this.fields.name })
    return true
  }

  /** Connects once, asks what the server offers, and leaves again. */
  async test(): Promise<void> {
    if (this.testing) return
    const { fields } = this
    this.testing = true
    this.problem = null
    this.tested = undefined
    try {
      const tested = await this.call('mcp.test', { draft: this.#draft, replaces: this.#replaces })
      if (fields === this.fields) this.tested = tested
    } catch (thrown) {
      if (fields === this.fields) this.problem = asApiError(thrown)
    } finally {
      this.testing = false
    }
  }

  /** Writes it into its file; false if that failed. */
  save(): Promise<boolean> {
    const scope = this.instead ? this.instead.origin.scope : this.scope
    return this.does(() =>
      this.call('mcp.save', { draft: this.#draft, scope, replaces: this.#replaces }),
    )
  }

  get #draft() {
    return draftOf(this.fields, this.instead?.draft)
  }

  get #replaces(): string | undefined {
    return this.instead?.name
  }
}
