import { t } from '../i18n/i18n.svelte'
import type { ProviderInfo } from '../types.gen'

/** A line of the model picker; without a model it leads to the provider's key. */
export type Choice = { key: string; provider: string; model?: string; label: () => string }
/** Problem says why the provider's models could not be listed. */
export type Group = { id: string; name: string; problem?: string; items: Choice[] }

/** The models that match, by provider; a typed id is offered where any id can be called. */
export function choices(providers: readonly ProviderInfo[], wanted: string): Group[] {
  const typed = wanted.trim()
  const needle = typed.toLowerCase()
  const groups: Group[] = []
  for (const { id: provider, name, ready, problem, models = [] } of providers) {
    const items: Choice[] = []
    for (const model of ready ? models : []) {
      const label = () => (model.scripted ? t('app.demo') : model.name || model.id)
      if (!`${name} ${model.id} ${label()}`.toLowerCase().includes(needle)) continue
      items.push({ key: `${provider}/${model.id}`, provider, model: model.id, label })
    }
    const isKnown = models.some((model) => model.id === typed)
    if (ready && typed && !isKnown && provider !== 'demo') {
      const label = () => t('composer.use_model', { id: typed })
      items.push({ key: `${provider}/?`, provider, model: typed, label })
    }
    if (!ready && name.toLowerCase().includes(needle)) {
      items.push({ key: provider, provider, label: () => t('composer.add_key') })
    }
    if (items.length > 0 || problem) groups.push({ id: provider, name, problem, items })
  }
  return groups
}
