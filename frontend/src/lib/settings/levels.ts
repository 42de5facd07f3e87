/** The models for background jobs such as titles, by how demanding the job is. */
import { choices, type Group } from '../catalog/choices'
import { t } from '../i18n/i18n.svelte'
import type { Levels, ProviderInfo } from '../types.gen'

export const levels = ['low', 'mid', 'high'] as const satisfies (keyof Levels)[]

export type LevelModel = { provider: string; model: string }

/** A reference to a model, as the preferences store it; empty leaves the choice to Atelier. */
export const refOf = ({ provider, model }: LevelModel) =>
  provider && model ? `${provider}/${model}` : ''

/** Parses a reference. The id of a model may contain slashes. */
export function modelOf(ref = ''): LevelModel {
  const slash = ref.indexOf('/')
  return { provider: ref.slice(0, Math.max(0, slash)), model: ref.slice(slash + 1) }
}

/** The choices of a level: automatic, then the real models of ready providers. */
export function levelChoices(providers: readonly ProviderInfo[], wanted: string): Group[] {
  const groups = choices(
    providers.filter(({ id, ready }) => ready && id !== 'demo'),
    wanted,
  )
  if (wanted) return groups
  const label = () => t('models.automatic')
  const automatic = { key: 'automatic', provider: '', model: '', label }
  return [{ id: 'automatic', name: '', items: [automatic] }, ...groups]
}
