import { asApiError, type Call } from '../api'
import { t } from '../i18n/i18n.svelte'
import type { Problem } from '../i18n/problems'
import type {
  AgentReport,
  ConnectionTest,
  Effort,
  Endpoint,
  ExternalAgent,
  ExternalList,
  KeyInfo,
  KeyList,
  ModelInfo,
  ModelsRequest,
  ProviderInfo,
  SetEndpointRequest,
  SetKeyRequest,
  Settings,
} from '../types.gen'

/** The last test of a provider's connection. A test that has neither an answer nor a problem still runs. */
export type Tested = { readonly answer?: ConnectionTest; readonly problem?: Problem }

/** The models that can be chosen, and the keys that they need. */
export class Catalog {
  #listed = $state.raw<readonly ProviderInfo[]>([])
  /** The local model servers that were running when they were last looked for. */
  #running = $state.raw<readonly ProviderInfo[]>([])
  readonly providers = $derived(
    this.#listed.map((p) => {
      if (p.id === 'demo') return { ...p, name: t('app.demo') }
      return (p.local && this.#running.find(({ id }) => id === p.id)) || p
    }),
  )
  keys = $state.raw<KeyList>({})
  /** The external agents, and those that were found; empty until they are loaded. */
  external = $state.raw<ExternalList>({})
  /** The user's own endpoints; empty until they are loaded. */
  endpoints = $state.raw<readonly Endpoint[]>([])
  /** Why the user's own models could not be read; undefined if they were. */
  problem = $state.raw<Problem>()
  #tests = $state.raw<Readonly<Record<string, Tested>>>({})
  #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  /** Whether no provider except the demo is set up. */
  readonly demoOnly = $derived(
    this.#listed.length > 0 && !this.#listed.some((p) => p.ready && p.id !== 'demo'),
  )

  load(): Promise<void> {
    return this.#load({})
  }

  /** Asks every configured provider for its models and prices again. */
  refresh(): Promise<void> {
    return this.#load({ refresh: true })
  }

  async #load(request: ModelsRequest): Promise<void> {
    const [models, keys] = await Promise.all([
      this.#call('models.list', request),
      this.#call('keys.list', {}),
    ])
    this.#listed = models.providers ?? []
    this.problem = models.problem
    this.keys = keys
  }

  /** Looks for running model servers on this machine, when the user is about to choose a model. */
  async findLocal(): Promise<void> {
    const found = await this.#call('models.local', {}).catch(() => undefined)
    this.#running = found?.providers ?? []
  }

  async setKey(request: SetKeyRequest): Promise<void> {
    this.keys = await this.#call('keys.set', request)
    void this.test(request.provider)
    await this.load()
  }

  async removeKey(provider: string): Promise<void> {
    this.keys = await this.#call('keys.remove', { provider })
    this.forgetTest(provider)
    await this.load()
  }

  async loadEndpoints(): Promise<void> {
    this.endpoints = (await this.#call('endpoints.list', {})).endpoints ?? []
  }

  async setEndpoint(request: SetEndpointRequest): Promise<void> {
    const before = this.endpoints.map(({ id }) => id)
    this.endpoints = (await this.#call('endpoints.set', request)).endpoints ?? []
    const id = request.id ?? this.endpoints.find((endpoint) => !before.includes(endpoint.id))?.id
    if (id) void this.test(id)
    await this.load()
  }

  async loadExternal(): Promise<void> {
    this.external = await this.#call('external.list', {})
  }

  async setExternal(agent: ExternalAgent): Promise<void> {
    this.external = await this.#call('external.set', agent)
    await this.load()
  }

  async removeExternal(id: string): Promise<void> {
    this.external = await this.#call('external.remove', { id })
    await this.load()
  }

  /** Starts an external agent and asks what it is; its models are known afterwards. */
  async checkExternal(id: string): Promise<AgentReport> {
    const report = await this.#call('external.check', { id })
    await this.load()
    return report
  }

  async removeEndpoint(provider: string): Promise<void> {
    this.endpoints = (await this.#call('endpoints.remove', { provider })).endpoints ?? []
    this.forgetTest(provider)
    await this.load()
  }

  /**
   * Asks a provider whether it is reachable and accepts the key. It costs nothing. A saved key or address is tested
   * by itself. Of two tests of a provider, the later one counts.
   */
  async test(provider: string): Promise<void> {
    const running: Tested = {}
    this.#tests = { ...this.#tests, [provider]: running }
    const outcome = await this.#call('models.test', { provider }).then(
      (answer): Tested => ({ answer, problem: answer.problem }),
      (thrown: unknown): Tested => ({ problem: asApiError(thrown) }),
    )
    if (this.#tests[provider] === running) this.#tests = { ...this.#tests, [provider]: outcome }
  }

  /** The last test of a provider; undefined if there was none since its key or its address was removed. */
  tested(provider: string): Tested | undefined {
    return this.#tests[provider]
  }

  forgetTest(provider: string): void {
    this.#tests = Object.fromEntries(Object.entries(this.#tests).filter(([id]) => id !== provider))
  }

  key(provider: string): KeyInfo | undefined {
    return this.keys.keys?.find((info) => info.provider === provider)
  }

  model(provider: string, id: string): ModelInfo | undefined {
    return this.providers.find((p) => p.id === provider)?.models?.find((m) => m.id === id)
  }

  /** The name of the chosen model if it is known to take no pictures; else empty. */
  blind({ provider, model }: Settings): string {
    const info = this.model(provider, model)
    return info?.blind ? info.name : ''
  }

  /** The settings that new sessions begin with: those that the user prefers, if they can be used now. */
  usable(wish: Settings): Settings {
    const mode = wish.mode || 'default'
    const canAnswer = this.#listed.some((p) => p.id === wish.provider && (p.ready || p.local))
    if (wish.model && canAnswer) return { ...wish, mode }
    for (const { id: provider, ready, default: model, models } of this.#listed) {
      const first = model ?? models?.[0]?.id
      if (ready && first) return { provider, model: first, mode }
    }
    return { provider: '', model: '', mode }
  }

  providerName(id: string): string {
    return this.providers.find((provider) => provider.id === id)?.name ?? id
  }

  /** The display name of a model and its provider. */
  nameOf({ provider, model }: Settings): string {
    return `${this.model(provider, model)?.name || model} · ${this.providerName(provider)}`
  }

  /** Whether a model is a script, which is never shown as if it were a real model. */
  isScript(provider: string, id: string): boolean {
    return provider === 'demo' || this.model(provider, id)?.scripted === true
  }

  efforts(provider: string, id: string): readonly Effort[] {
    return this.model(provider, id)?.efforts ?? []
  }
}
