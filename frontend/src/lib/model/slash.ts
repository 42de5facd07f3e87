/** Reads what is typed after a slash: the name of a command, and its arguments. */
import type { CommandCall, SkillUse, SlashCommand } from '../types.gen'

/** What is sent: a text, with the skill that it uses. */
export type Message = { text: string; command?: CommandCall }

/** What is being typed: the name of a command, a value of one of its arguments, or what a skill is told. */
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
  | { part: 'free'; command: SlashCommand; named: string; typed: string }

/** Reads a text as a command; undefined if it is not one, such as a path. */
export function readSlash(text: string, commands: readonly SlashCommand[]): Slash | undefined {
  const { 1: name, 2: gap } = /^\/(\S*)(\s)?/.exec(text) ?? []
  if (name === undefined) return undefined
  if (gap === undefined) {
    return matching(name, commands).length > 0 ? { part: 'name', typed: name } : undefined
  }
  const command = commandNamed(name, commands)
  if (!command) return undefined
  if (command.kind === 'skill') {
    return { part: 'free', command, named: name, typed: text.slice(name.length + 2) }
  }
  return { part: 'argument', command, ...readValues(text, name.length + 2, command) }
}

/** The name with which a text begins like a command; undefined if it does not, such as a path. */
export const nameIn = (text: string): string | undefined => /^\/([^\s/]+)(?=\s|$)/.exec(text)?.[1]

/** The name that a text which begins like a command has; undefined for a path, a number or a comment. The host reads it alike. */
export const slashWord = (text: string): string | undefined =>
  /^\/(\p{L}[\p{L}\p{N}_:.-]*)[,!?;]*(?:\s|$)/u.exec(text)?.[1]

/** What is sent of a text. A space before a slash stays: it says that no command is meant. */
export const asSent = (text: string): string => (/^\s+\//.test(text) ? ' ' : '') + text.trim()

/** The name or alias of a command that a mistyped one is nearest to; undefined if none is near. */
export function nearest(typed: string, commands: readonly SlashCommand[]): string | undefined {
  const names = commands.flatMap(({ name, aliases = [] }) => [name, ...aliases])
  const near = names
    .map((name) => ({ name, far: distance(typed.toLowerCase(), name.toLowerCase()) }))
    .toSorted((a, b) => a.far - b.far)[0]
  return near && near.far <= 1 + Math.floor(typed.length / 3) ? near.name : undefined
}

/** How many characters are changed, added or left out between two words. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (const [i, from] of [...a.slice(0, 64)].entries()) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j++) {
      next.push(Math.min(row[j]! + (from === b[j] ? 0 : 1), row[j + 1]! + 1, next[j]! + 1))
    }
    row = next
  }
  return row.at(-1)!
}

/** Reads a whole text as a command of a server, with its values; undefined if it is not one. */
export function commandOf(text: string, commands: readonly SlashCommand[]) {
  const slash = readSlash(`${text.trimEnd()} `, commands)
  if (slash?.part !== 'argument') return undefined
  const { command, values } = slash
  const missing = command.arguments?.find(({ name, required }) => required && !values[name])
  return { command, values, missing: missing?.name }
}

/** Reads a whole text as the use of a skill; undefined if it is something else. */
export function skillOf(text: string, commands: readonly SlashCommand[]) {
  const slash = readSlash(`${text.trimEnd()} `, commands)
  if (slash?.part !== 'free') return undefined
  const { command, named, typed } = slash
  const call: CommandCall = { name: command.name, arguments: typed.trim() }
  return { command, named, call }
}

/** Uses the skill of an earlier message again, with its arguments; undefined if the message used none. */
export const callAgain = (text: string, skill: SkillUse | undefined): CommandCall | undefined =>
  skill && { name: skill.name, arguments: text.replace(/^\S*/, '').trim() }

/** The commands without those whose name an earlier one has. */
export function firstOfEach(commands: readonly SlashCommand[]): SlashCommand[] {
  const names = new Set<string>()
  return commands.filter(({ name }) => !names.has(name) && names.add(name))
}

/** A name takes precedence over an alias, and the first of two aliases over the other. */
export const commandNamed = (name: string, commands: readonly SlashCommand[]) =>
  commands.find((it) => it.name === name) ?? commands.find((it) => it.aliases?.includes(name))

/** Values are separated by spaces, or are in quotes; the last one has the rest of the text. */
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

/** A name that can be completed: that of a command, or an alias of it. */
export type Choice = { name: string; command: SlashCommand }

/** The commands whose name, alias or words have what is typed, those that begin with it first. */
export function matching(typed: string, commands: readonly SlashCommand[]): Choice[] {
  const wanted = typed.toLowerCase()
  const rank = ({ name, command }: Choice) => {
    const begins = name.toLowerCase().startsWith(wanted)
    if (name.toLowerCase() === wanted) return -1
    if (name !== command.name) return begins ? 1 : 2
    if (begins || shortName(command).toLowerCase().startsWith(wanted)) return 0
    return name.toLowerCase().includes(wanted) ? 2 : 3
  }
  const aliasesOf = (command: SlashCommand) =>
    [...new Set(wanted ? command.aliases : [])]
      .filter((name) => name !== command.name && name.toLowerCase().includes(wanted))
      .filter((name) => commandNamed(name, commands) === command)
  return commands
    .flatMap((command) => [
      ...(matches(command, wanted) ? [{ name: command.name, command }] : []),
      ...aliasesOf(command).map((name) => ({ name, command })),
    ])
    .toSorted((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name))
}

const matches = ({ name, description = '' }: SlashCommand, wanted: string): boolean =>
  [name, description].some((it) => it.toLowerCase().includes(wanted))

/** The name without the prefix that names its server. */
const shortName = ({ name }: SlashCommand): string => name.replace(/^mcp__.+?__/, '')
