/** The user's models for jobs beside a session, by how much thought they take. */
import { choices, type Group } from '../catalog/choices'
import { t } from '../i18n/i18n.svelte'
import type { Levels, ProviderInfo } from '../types.gen'

export const levels = ['low', 'mid', 'high'] as const satisfies (keyof Levels)[]

export type LevelModel = { provider: string; model: string }

/** A reference as preferences keep it; empty leaves the choice to Atelier. */
export const refOf = ({ provider, model }: LevelModel) =>
  provider && model ? `${provider}/${model}` : ''

/** The model of a reference, whose id may have slashes of its own. */
export function modelOf(ref = ''): LevelModel {
  const slash = ref.indexOf('/')
  return { provider: ref.slice(0, Math.max(0, slash)), model: ref.slice(slash + 1) }
}

/** Automatic first, then the real models of providers that can be asked. */
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
