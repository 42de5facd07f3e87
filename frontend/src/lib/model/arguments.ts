/** The arguments of a tool call, and the argument that describes the call best. */
import { titleOf } from './plan'
import { questionsOf } from './question'
import { argumentsOf } from './json'
import { markHidden } from './visible'

/** The names of arguments that describe a call, the best first. */
const telling = ['command', 'file_path', 'path', 'pattern', 'query', 'url', 'description', 'task']

/** The argument that describes a call best, on one line, with hidden characters made visible. */
export function argument(tool: string, input: string): string {
  const all = argumentsOf(input)
  const text = (name: string) => (typeof all[name] === 'string' ? (all[name] as string) : '')
  if (tool === 'Grep' || tool === 'Glob') {
    const where = text('path') || text('glob')
    return line(where ? `${text('pattern')} · ${where}` : text('pattern'))
  }
  if (tool === 'LSP') {
    const at = typeof all.line === 'number' && text('file_path') ? `:${all.line + 1}` : ''
    return line(
      [text('operation'), text('query'), `${text('file_path')}${at}`].filter(Boolean).join(' · '),
    )
  }
  if (tool === 'RenameSymbol')
    return line(`${text('symbol')} → ${text('new_name')} · ${text('file_path')}`)
  if (tool === 'Skill') return line(`${text('skill')} ${text('args')}`.trim())
  if (tool === 'AskUser')
    return line(
      questionsOf(input)
        .map(({ question }) => question)
        .join(' · '),
    )
  if (tool === 'ExitPlanMode') return line(titleOf(text('plan')))
  if (tool === 'TodoWrite') return ''
  if (tool === 'ApplyPatch') return line(patched(text('input')))
  if (text('command') && text('workdir')) return line(`${text('command')} · ${text('workdir')}`)
  const name = telling.find((candidate) => text(candidate) !== '')
  const value = name ? text(name) : Object.values(all).find((v) => typeof v === 'string')
  return line(String(value ?? ''))
}

/** The files that a patch names. */
const patched = (patch: string) =>
  [...patch.matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm)]
    .map((header) => header[1]!.trim())
    .join(', ')

const line = (text: string) => markHidden(text.slice(0, 500).replace(/\s+/g, ' '))
