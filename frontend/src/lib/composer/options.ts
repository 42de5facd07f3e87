/** What the menus of the message field offer. */
import { matching, type Choice } from '../model/slash'
import { markHidden } from '../model/visible'
import type { Commands } from '../state/commands.svelte'
import { own } from './messages'

/** How many are shown at once. */
export const most = 50

export type Option = {
  /** What is written into the field. */
  value: string
  name: string
  /** What may follow the name. */
  hint: string
  about: string
  /** Where it is from, and what else tells it from others. */
  aside: string
}

/** The commands that what is typed may become. */
export const nameOptions = (typed: string, commands: Commands): Option[] =>
  matching(typed, commands.list).map((choice) => ({
    value: choice.name,
    name: `/${markHidden(choice.name)}`,
    hint: markHidden(hintOf(choice.command)).slice(0, 100),
    about: markHidden(choice.command.description ?? '').slice(0, 300),
    aside: asideOf(choice, commands),
  }))

/** What may follow the name of a skill. */
export const hintOf = ({ kind, hint, arguments: all = [] }: Choice['command']): string =>
  kind === 'skill' ? hint || all.map(({ name }) => `[${name}]`).join(' ') : ''

export const valueOptions = (values: readonly string[], typed: string): Option[] =>
  values
    .filter((value) => value !== typed)
    .map((value) => ({ value, name: markHidden(value), hint: '', about: '', aside: '' }))

/** A file or a folder, with the folder that it is in. */
export function fileOption(path: string): Option {
  const at = path.lastIndexOf('/', path.length - 2) + 1
  const [name, aside] = [path.slice(at), path.slice(0, at)].map(markHidden)
  return { value: path, name: name!, hint: '', about: '', aside: aside! }
}

function asideOf({ name, command }: Choice, commands: Commands): string {
  const source = markHidden(command.source)
  if (command.kind !== 'skill') {
    if (source) return own('of', { server: source })
    return commands.hidesSkill(name) ? own('hides_skill') : ''
  }
  const from = source ? own('skill_of', { file: source }) : own('skill_built_in')
  const alias = name === command.name ? '' : own('alias', { skill: markHidden(command.name) })
  return [alias, from].filter(Boolean).join(' · ')
}
