import { t } from '../i18n/i18n.svelte'
import type { Activity } from '../model/activity'

/** The placeholder of the empty field. */
export function placeholderOf(activity: Activity, suggested: string | undefined): string {
  if (suggested) return t('composer.suggested', { text: suggested })
  return t(activity === 'rest' ? 'composer.placeholder' : `composer.placeholder_${activity}`)
}
