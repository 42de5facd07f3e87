import type { Problem } from '../i18n/problems'
import { t } from '../i18n/i18n.svelte'
import type { ModelInfo, ProviderInfo } from '../types.gen'

/** An item in a list of models. An item without a model opens the settings of the keys. */
export type Choice = {
  key: string
  provider: string
  model?: string
  label: () => string
  /** Facts about the model, if it is listed. */
  info?: ModelInfo
}
/** The models of a provider. The problem is why they could not be listed. */
export type Group = { id: string; name: string; problem?: Problem; items: Choice[] }

/**
 * The matching models, by provider. A typed id is offered at the end, for every
 * ready provider that does not list it, so that Enter chooses the first match.
 * Of the providers that are not set up only the vendors are shown; a search finds all.
 */
export function choices(providers: readonly ProviderInfo[], wanted: string): Group[] {
  const typed = wanted.trim()
  const words = typed.toLowerCase().split(/\s+/)
  const matches = (text: string) => words.every((word) => text.toLowerCase().includes(word))
  const groups: Group[] = []
  const unlisted: Group[] = []
  let hasMore = false
  const usableFirst = providers.toSorted((a, b) => Number(b.ready) - Number(a.ready))
  for (const { id: provider, name, ready, vendor, local, problem, models = [] } of usableFirst) {
    const items: Choice[] = []
    const listed = new Set<string>()
    for (const info of ready ? lastingFirst(models) : []) {
      const label = () => (info.scripted ? t('app.demo') : info.name || info.id)
      const key = `${provider}/${info.id}`
      // An endpoint may list a model twice.
      if (listed.has(key) || !matches(`${name} ${info.id} ${label()}`)) continue
      listed.add(key)
      items.push({ key, provider, model: info.id, label, info })
    }
    const isKnown = models.some((model) => model.id === typed)
    if (ready && typed && !/\s/.test(typed) && !isKnown && provider !== 'demo') {
      const label = () => t('composer.use_model', { id: typed })
      const item = { key: `${provider}/?`, provider, model: typed, label }
      unlisted.push({ id: `${provider}/?`, name, items: [item] })
    }
    if (!ready && !vendor && !typed) hasMore = true
    else if (!ready && !local && matches(name)) {
      items.push({ key: provider, provider, label: () => t('composer.add_key') })
    }
    if (items.length > 0 || problem) groups.push({ id: provider, name, problem, items })
  }
  if (hasMore) {
    const item = { key: 'more', provider: '', label: () => t('composer.more_providers') }
    groups.push({ id: 'more', name: '', items: [item] })
  }
  return [...groups, ...unlisted]
}

/** The choices of a fallback model: any real model, or none. */
export function standIns(providers: readonly ProviderInfo[], wanted: string): Group[] {
  const none = { key: 'none', provider: '', model: '', label: () => t('composer.fallback_none') }
  const real = providers.filter(({ id, ready }) => ready && id !== 'demo')
  const groups = choices(real, wanted)
  return wanted ? groups : [{ id: 'none', name: '', items: [none] }, ...groups]
}

const lastingFirst = (models: readonly ModelInfo[]) => {
  const rank = (m: ModelInfo) => (m.shutdown ? 2 : m.recommended ? 0 : 1)
  return models.toSorted((a, b) => rank(a) - rank(b))
}
