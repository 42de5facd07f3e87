import type { Mode } from '../types.gen'
import { t } from './i18n.svelte'

/**
 * The name of a mode and what it means, in one sentence or two. What the mode auto means depends on
 * whether the system confines commands here; undefined if that is not known.
 */
export function modeWords(mode: Mode, holds: boolean | undefined): { label: string; hint: string } {
  const key =
    mode !== 'auto' || holds === undefined
      ? (`mode.${mode}` as const)
      : holds
        ? 'mode.auto_confined'
        : 'mode.auto_unconfined'
  return { label: t(key), hint: t(`${key}_hint`) }
}
