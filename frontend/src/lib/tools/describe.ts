/** Describes the result of a call. */
import type { ToolEntry } from '../model/entries'
import { t } from '../i18n/i18n.svelte'
import type { FileChange } from '../types.gen'
import { isPicture } from '../model/pictures'
import { isSlip } from '../model/outcomes'

export type Outcome = { text: string; added?: number; removed?: number; bad?: boolean }

/** The most important result of a call that has ended. */
export function outcome(call: ToolEntry): Outcome {
  if (call.status === 'denied' || call.status === 'interrupted') {
    return { text: t(`tool.${call.status}`) }
  }
  const { changes, command, listing } = call.details ?? {}
  const bad = call.status === 'failed' && !isSlip(call)
  if (command?.timed_out && command.task) return { text: t('tool.moved_to_background') }
  if (command?.timed_out) return { text: t('tool.timed_out'), bad: true }
  if (command && command.exit_code !== 0) {
    return { text: t('tool.exit', { code: String(command.exit_code) }), bad: true }
  }
  if (call.status === 'failed') return { text: t('tool.failed'), bad }
  if (changes) return { text: summary(changes), ...sums(changes) }
  const pictures = call.media?.filter(isPicture).length ?? 0
  if (pictures > 0) return { text: t('tool.pictures', { n: pictures }) }
  if (listing) return { text: counted(listing.unit, listing.count) }
  return { text: '' }
}

const summary = (changes: readonly FileChange[]) =>
  changes.length > 1 ? counted('files', changes.length) : noteOf(changes[0])

/** What a command printed, without the note of its exit code that the model reads. */
export const withoutExitNote = (output: string, code: number | undefined): string => {
  const note = `[Exit code ${code}]`
  return output.endsWith(note) ? output.slice(0, -note.length).trimEnd() : output
}

/** The number of added and removed lines of all files. */
export function sums(changes: readonly FileChange[]): { added: number; removed: number } {
  const sum = (count: (change: FileChange) => number) =>
    changes.reduce((total, change) => total + count(change), 0)
  return { added: sum((change) => change.added), removed: sum((change) => change.removed) }
}

/** What happens to a file besides changes of its lines. */
export function noteOf(change: FileChange | undefined): string {
  if (change?.created) return t('tool.created')
  return change?.deleted ? t('tool.deleted') : ''
}

const units = ['lines', 'files', 'matches', 'cells', 'entries', 'pages'] as const
const isUnit = (unit: string): unit is (typeof units)[number] =>
  (units as readonly string[]).includes(unit)

function counted(unit: string, n: number): string {
  return isUnit(unit) ? t(`tool.${unit}`, { n }) : `${n} ${unit}`
}
