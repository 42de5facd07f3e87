/** Reads what is typed after a slash: the name of a command, and its arguments. */
import type { SlashCommand } from '../types.gen'

/** What is being typed: the name of a command, or a value of one of its arguments. */
export type Slash =
  | { part: 'name'; typed: string }
  | {
      part: 'argument'
      command: SlashCommand
      /** The values by name, as far as they are typed. */
      values: Record<string, string>
      /** The place of the argument that is being typed; beyond the last if there is none. */
      at: number
      /** What of it is typed, and where in the text that begins. */
      typed: string
      from: number
    }

/** Reads a text as a command; undefined if it is not one, such as a path. */
export function readSlash(text: string, commands: readonly SlashCommand[]): Slash | undefined {
  const { 1: name, 2: gap } = /^\/(\S*)(\s)?/.exec(text) ?? []
  if (name === undefined) return undefined
  const command = commands.find((it) => it.name === name)
  if (gap === undefined) {
    if (command || commands.some((it) => matches(it, name))) return { part: 'name', typed: name }
    return undefined
  }
  return command && { part: 'argument', command, ...readValues(text, name.length + 2, command) }
}

/** The command that a whole text is, with its values; undefined if it is not one. */
export function commandOf(text: string, commands: readonly SlashCommand[]) {
  const slash = readSlash(`${text.trimEnd()} `, commands)
  if (slash?.part !== 'argument') return undefined
  const { command, values } = slash
  const missing = command.arguments?.find(({ name, required }) => required && !values[name])
  return { command, values, missing: missing?.name }
}

/** Values are divided by spaces, or stand in quotes; the last one has the rest of the text. */
function readValues(text: string, start: number, { arguments: known = [] }: SlashCommand) {
  const values: Record<string, string> = {}
  let [at, from] = [0, start]
  for (;;) {
    while (/\s/.test(text[from] ?? '')) from++
    const rest = text.slice(from)
    const quoted = /^"((?:\\.|[^"\\])*)"(?=\s|$)/s.exec(rest)
    if (at >= known.length - 1 && !quoted) {
      const typed = rest.trimEnd()
      const name = known[at]?.name
      if (name !== undefined && typed) values[name] = typed
      return { values, at, typed: rest, from }
    }
    const word = quoted ?? (rest.startsWith('"') ? undefined : /^(\S+)(?=\s)/.exec(rest))
    const name = known[at]?.name
    if (!word || name === undefined) {
      if (name !== undefined && rest) values[name] = rest.replace(/^"/, '')
      return { values, at, typed: rest, from }
    }
    values[name] = quoted ? word[1]!.replace(/\\(.)/gs, '$1') : word[1]!
    from += word[0].length
    at++
  }
}

/** A value as it is typed: in quotes if others follow it and it has spaces. */
export function writeValue(value: string, isLast: boolean): string {
  if (!/[\s"]/.test(value) || (isLast && !value.startsWith('"'))) return value
  return `"${value.replace(/["\\]/g, '\\$&')}"`
}

/** The commands whose name or words have what is typed, those that begin with it first. */
export function matching(typed: string, commands: readonly SlashCommand[]): SlashCommand[] {
  const wanted = typed.toLowerCase()
  const rank = (it: SlashCommand) => {
    const name = it.name.toLowerCase()
    if (name.startsWith(wanted) || shortName(it).toLowerCase().startsWith(wanted)) return 0
    return name.includes(wanted) ? 1 : 2
  }
  return commands
    .filter((it) => matches(it, typed))
    .toSorted((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name))
}

function matches(command: SlashCommand, typed: string): boolean {
  const wanted = typed.toLowerCase()
  return [command.name, command.description ?? ''].some((it) => it.toLowerCase().includes(wanted))
}

/** The name without what says that a server has it. */
const shortName = ({ name }: SlashCommand): string => name.replace(/^mcp__.+?__/, '')
