/** A command that the user ran: whether one runs, and what became of it in a word. */
import { t } from '../i18n/i18n.svelte'
import type { CommandEntry, View } from './entries'

export const newestCommand = ({ entries }: View): CommandEntry | undefined =>
  entries.findLast((entry) => entry.type === 'command')

/** What makes the session busy is a command of the user's, no turn. */
export const isCommandRunning = (view: View): boolean =>
  view.state === 'processing' && newestCommand(view)?.status === 'running'

/** How a command ended, where that is more than well. */
export function commandResult({ status, result }: CommandEntry): { text: string; bad: boolean } {
  if (status === 'interrupted') return { text: t('tool.interrupted'), bad: false }
  if (status === 'failed') return { text: t('tool.failed'), bad: true }
  const code = result?.exit_code ?? 0
  return code === 0
    ? { text: '', bad: false }
    : { text: t('tool.exit', { code: String(code) }), bad: true }
}
