import type { Call } from '../api'
import type {
  ConnectionTest,
  Effort,
  KeyInfo,
  KeyList,
  ModelInfo,
  ProviderInfo,
  SetKeyRequest,
  Settings,
} from '../types.gen'

/** The models that can be chosen and the keys they need. */
export class Catalog {
  providers = $state.raw<readonly ProviderInfo[]>([])
  keys = $state.raw<KeyList>({})
  /** Why the user's own models are not used; empty where they are. */
  problem = $state('')
  #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  /** No provider but the demo can be called. */
  readonly demoOnly = $derived(
    this.providers.length > 0 && !this.providers.some((p) => p.ready && p.id !== 'demo'),
  )

  async load(): Promise<void> {
    const [models, keys] = await Promise.all([
      this.#call('models.list', {}),
      this.#call('keys.list', {}),
    ])
    this.providers = models.providers ?? []
    this.problem = models.problem ?? ''
    this.keys = keys
  }

  async setKey(request: SetKeyRequest): Promise<void> {
    this.keys = await this.#call('keys.set', request)
    await this.load()
  }

  async removeKey(provider: string): Promise<void> {
    this.keys = await this.#call('keys.remove', { provider })
    await this.load()
  }

  /** Asks a provider whether it answers and takes the key; costs nothing. */
  test(provider: string): Promise<ConnectionTest> {
    return this.#call('models.test', { provider })
  }

  key(provider: string): KeyInfo | undefined {
    return this.keys.keys?.find((info) => info.provider === provider)
  }

  model(provider: string, id: string): ModelInfo | undefined {
    return this.providers.find((p) => p.id === provider)?.models?.find((m) => m.id === id)
  }

  /** What new sessions begin with: the user's wish, as far as it can be used now. */
  usable(wish: Settings): Settings {
    const mode = wish.mode || 'default'
    const isReady = this.providers.some((p) => p.id === wish.provider && p.ready)
    if (wish.model && isReady) return { ...wish, mode }
    for (const { id: provider, ready, default: model, models } of this.providers) {
      const first = model ?? models?.[0]?.id
      if (ready && first) return { provider, model: first, mode }
    }
    return { provider: '', model: '', mode }
  }

  /** A script is never shown as if it were a model. */
  isScript(provider: string, id: string): boolean {
    return provider === 'demo' || this.model(provider, id)?.scripted === true
  }

  efforts(provider: string, id: string): readonly Effort[] {
    return this.model(provider, id)?.efforts ?? []
  }
}
