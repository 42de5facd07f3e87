import { t } from '../i18n/i18n.svelte'
import type { KeyInfo } from '../types.gen'

/** Describes where a provider's key comes from. */
export function keySource(info: KeyInfo): string {
  if (info.source === 'environment') return t('keys.environment', { variable: info.variable })
  if (info.source === 'keyring') return t('keys.in_keyring')
  if (info.source === 'file') return t('keys.in_file')
  return t(info.local ? 'keys.not_needed' : 'keys.none')
}
