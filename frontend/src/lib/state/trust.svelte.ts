import { SvelteMap, SvelteSet } from 'svelte/reactivity'
import { type ApiError, asApiError, type Call } from '../api'
import { oneAtATime } from '../model/oneAtATime'
import type { TrustRow, TrustShown } from '../types.gen'

/** What the project can make Atelier run, and what the user said about it. */
export class Trust {
  items = $state.raw<readonly TrustRow[]>([])
  /** Whether a file has more than are read. */
  more = $state(false)
  /** The item that the user looks at; undefined while none. */
  reviewed = $state<string>()
  shown = $state.raw<TrustShown>()
  /** Why what the user asked for was not done. */
  problem = $state.raw<ApiError | null>(null)
  busy = $state(false)
  /** The items that the user has put off, in the state that they had then. */
  readonly #later = new SvelteSet<string>()
  /** The seals of the items that were shown, in the state that they had then; empty for one that cannot be trusted. */
  readonly #seen = new SvelteMap<string, string>()
  #call: Call

  /** What waits for the user's decision. */
  readonly waiting = $derived(this.items.filter(({ state }) => isOpen(state)))
  /** What asks for it. */
  readonly asked = $derived(this.waiting.filter((item) => !this.#later.has(keyOf(item))))

  /** Whether several items wait and each of them was shown, so that they can be trusted at once. */
  readonly isAllSeen = $derived(
    this.waiting.length > 1 && this.waiting.every((item) => this.#seen.has(keyOf(item))),
  )

  constructor(call: Call) {
    this.#call = call
  }

  readonly load = oneAtATime(async () => {
    try {
      const { items = [], more = false } = await this.#call('trust.list', {})
      this.items = items
      this.more = more
      const now = items.find(({ id }) => id === this.reviewed)?.state
      // Another page decided about what is shown here.
      if (now && !this.busy && this.shown && now !== this.shown.state)
        await this.#show(this.shown.id)
    } catch (thrown) {
      this.problem = asApiError(thrown)
    }
  })

  /** Shows an item in its current state; without one, the first that waits. */
  async review(id = this.asked[0]?.id ?? this.waiting[0]?.id): Promise<void> {
    this.problem = null
    this.reviewed = id
    this.shown = undefined
    if (id) await this.#show(id)
  }

  close(): void {
    this.reviewed = undefined
    this.shown = undefined
  }

  /** Puts the questions off until something changes or the page is loaded again. */
  putOff(items: readonly TrustRow[] = this.asked): void {
    for (const item of items) this.#later.add(keyOf(item))
  }

  /** Trusts exactly what is shown. */
  accept = (): Promise<boolean> =>
    this.#decide((id) => this.#call('trust.accept', { id, seal: this.shown!.seal }))

  /** Shows the next item that waits, and decides nothing about this one. */
  async next(): Promise<void> {
    await this.review(this.waiting[this.place % this.waiting.length]?.id)
  }

  /** Trusts everything that waits exactly as it was shown. It stops at what changed since, and shows it again. */
  async acceptAll(): Promise<boolean> {
    if (!this.isAllSeen || this.busy) return false
    this.busy = true
    this.problem = null
    let at = ''
    try {
      for (const item of this.waiting) {
        const seal = this.#seen.get(keyOf(item))
        if (!seal) continue
        at = item.id
        await this.#call('trust.accept', { id: at, seal })
      }
      await this.load()
      if (this.waiting.length > 0) await this.review()
      else this.close()
      return true
    } catch (thrown) {
      this.problem = asApiError(thrown)
      this.reviewed = at
      await this.load()
      await this.#show(at)
      return false
    } finally {
      this.busy = false
    }
  }

  refuse = (): Promise<boolean> => this.#decide((id) => this.#call('trust.refuse', { id }))

  revoke = (): Promise<boolean> => this.#decide((id) => this.#call('trust.revoke', { id }))

  /** The place of the item that is shown among those that wait, from 1; 0 if it does not. */
  readonly place = $derived(this.waiting.findIndex(({ id }) => id === this.reviewed) + 1)

  async #decide(how: (id: string) => Promise<unknown>): Promise<boolean> {
    const { shown, waiting } = this
    if (!shown || this.busy) return false
    this.busy = true
    this.problem = null
    try {
      await how(shown.id)
      await this.load()
      // The user closed it meanwhile, or looks at something else.
      if (this.reviewed !== shown.id) return true
      const at = waiting.findIndex(({ id }) => id === shown.id)
      const left = [...waiting.slice(at + 1), ...waiting.slice(0, Math.max(0, at))]
      const next =
        at >= 0 ? left.find(({ id }) => this.waiting.some((item) => item.id === id)) : undefined
      if (next) await this.review(next.id)
      else this.close()
      return true
    } catch (thrown) {
      this.problem = asApiError(thrown)
      // It may have changed since it was shown.
      await this.#show(shown.id)
      return false
    } finally {
      this.busy = false
    }
  }

  async #show(id: string): Promise<void> {
    try {
      const shown = await this.#call('trust.show', { id })
      if (this.reviewed !== id) return
      this.shown = shown
      this.#seen.set(keyOf(shown), shown.blocked ? '' : shown.seal)
    } catch (thrown) {
      this.problem ??= asApiError(thrown)
    }
  }
}

const isOpen = (state: TrustRow['state']) => state === 'unknown' || state === 'changed'
const keyOf = ({ id, state }: TrustRow) => `${id} ${state}`
