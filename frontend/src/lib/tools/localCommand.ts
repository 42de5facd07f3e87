/** The result of a command that the user ran, in a few words. */
import { t } from '../i18n/i18n.svelte'
import type { CommandEntry } from '../model/entries'

/** How a command ended; empty if it succeeded. */
export function commandResult({ status, result }: CommandEntry): { text: string; bad: boolean } {
  if (status === 'interrupted') return { text: t('tool.interrupted'), bad: false }
  if (status === 'failed') return { text: t('tool.failed'), bad: true }
  const code = result?.exit_code ?? 0
  return code === 0
    ? { text: '', bad: false }
    : { text: t('tool.exit', { code: String(code) }), bad: true }
}
