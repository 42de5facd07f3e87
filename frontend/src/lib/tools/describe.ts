/** What a tool's one line says: its most telling argument and its most telling result. */
import type { ToolEntry } from '../conversation/entries'
import { t } from '../i18n/i18n.svelte'
import { markHidden } from '../visible'
import { isPicture } from './pictures'

/** The arguments of a call; empty where they are no JSON object. */
export function argumentsOf(input: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(input)
    return value !== null && typeof value === 'object' && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : {}
  } catch {
    return {}
  }
}

const telling = ['command', 'file_path', 'path', 'pattern', 'query', 'url', 'description', 'task']

/** The argument that tells one call from another, on one line, with nothing hidden in it. */
export function argument(tool: string, input: string): string {
  const all = argumentsOf(input)
  const text = (name: string) => (typeof all[name] === 'string' ? (all[name] as string) : '')
  if (tool === 'Grep' || tool === 'Glob') {
    const where = text('path') || text('glob')
    return line(where ? `${text('pattern')} · ${where}` : text('pattern'))
  }
  const name = telling.find((candidate) => text(candidate) !== '')
  const value = name ? text(name) : Object.values(all).find((v) => typeof v === 'string')
  return line(String(value ?? ''))
}

const line = (text: string) => markHidden(text.slice(0, 500).replace(/\s+/g, ' '))

export type Outcome = { text: string; added?: number; removed?: number; bad?: boolean }

/** The one telling result of a call that has ended. */
export function outcome(call: ToolEntry): Outcome {
  if (call.status === 'denied' || call.status === 'interrupted') {
    return { text: t(`tool.${call.status}`) }
  }
  const { change, command, listing } = call.details ?? {}
  const bad = call.status === 'failed'
  if (command?.timed_out) return { text: t('tool.timed_out'), bad: true }
  if (command && command.exit_code !== 0) {
    return { text: t('tool.exit', { code: String(command.exit_code) }), bad: true }
  }
  if (bad) return { text: t('tool.failed'), bad }
  if (change) {
    const text = change.created ? t('tool.created') : ''
    return { text, added: change.added, removed: change.removed }
  }
  const pictures = call.media?.filter(isPicture).length ?? 0
  if (pictures > 0) return { text: t('tool.pictures', { n: pictures }) }
  if (listing) return { text: counted(listing.unit, listing.count) }
  return { text: '' }
}

function counted(unit: string, n: number): string {
  if (unit === 'lines' || unit === 'files' || unit === 'matches') return t(`tool.${unit}`, { n })
  return `${n} ${unit}`
}
