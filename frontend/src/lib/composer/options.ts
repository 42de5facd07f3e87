/** What the menus of the message field offer. */
import { type Piece, withMarks, matchedPlaces } from '../model/mention'
import { matching, type Choice } from '../model/slash'
import { markHidden } from '../model/visible'
import type { Commands } from '../state/commands.svelte'
import type { NamedResource } from '../state/names.svelte'
import type { CodeSymbol, SessionInfo } from '../types.gen'
import { own } from './messages'

/** How many are shown at once. */
export const most = 50
const mostSessions = 10

export type Option = {
  /** What is written into the field. */
  value: string
  /** Its name, in which the letters are marked that are typed. */
  name: readonly Piece[]
  /** What may follow the name. */
  hint: string
  about: string
  /** Where it is from, and what else tells it from others. */
  aside: readonly Piece[]
}

const plain = (text: string): readonly Piece[] => (text ? [{ text, marked: false }] : [])

/** A name with its first match of the typed text marked. */
function found(name: string, typed: string): readonly Piece[] {
  const at = name.toLowerCase().indexOf(typed.toLowerCase())
  return withMarks(name, at < 0 ? [] : Array.from({ length: typed.length }, (_, n) => at + n))
}

/** The commands that the typed text may become. */
export const nameOptions = (typed: string, commands: Commands): Option[] =>
  matching(typed, commands.list).map((choice) => ({
    value: choice.name,
    name: [...plain('/'), ...found(choice.name, typed)],
    hint: markHidden(hintOf(choice.command)).slice(0, 100),
    about: markHidden(choice.command.description ?? '').slice(0, 300),
    aside: plain(asideOf(choice, commands)),
  }))

/** What may follow the name of a skill. */
export const hintOf = ({ kind, hint, arguments: all = [] }: Choice['command']): string =>
  kind === 'skill' ? hint || all.map(({ name }) => `[${name}]`).join(' ') : ''

export const valueOptions = (values: readonly string[], typed: string): Option[] =>
  values
    .filter((value) => value !== typed)
    .map((value) => ({ value, name: found(value, typed), hint: '', about: '', aside: [] }))

/** A file or a folder, with the folder that it is in. */
export function fileOption(path: string, typed: string): Option {
  const at = path.lastIndexOf('/', path.length - 2) + 1
  const marks = matchedPlaces(path, typed)
  const [name, aside] = [withMarks(path, marks, at), withMarks(path, marks, 0, at)]
  return { value: path, name, hint: '', about: '', aside }
}

/** Definitions of the project's code, which are mentioned by their lines. */
export const symbolOptions = (all: readonly CodeSymbol[], typed: string): Option[] =>
  all.map(({ name, kind = '', path, line }) => ({
    ...{ value: `${path}#L${line}`, about: '', aside: plain(`${path}:${line}`) },
    name: found(name, typed),
    hint: kind || own('symbol'),
  }))

/** Resources of servers whose names have all that is typed. The model reads them by their addresses. */
export const resourceOptions = (all: readonly NamedResource[], typed: string): Option[] =>
  all
    .filter(({ server, uri, label }) =>
      `${server} ${uri} ${label}`.toLowerCase().includes(typed.toLowerCase()),
    )
    .slice(0, most)
    .map(({ server, uri, label }) => ({
      ...{ value: `${server}:${uri}`, about: '', aside: plain(own('of', { server })) },
      name: found(markHidden(label), typed),
      hint: own('resource'),
    }))

/** How much of a session's title is written into a message. */
const longestTitle = 60

/** Sessions whose titles have all that is typed. The model is told what was said in one. */
export function sessionOptions(all: readonly SessionInfo[], typed: string): Option[] {
  const wanted = typed.replace(/^session:/i, '')
  return all
    .filter(({ title }) => title && title.toLowerCase().includes(wanted.toLowerCase()))
    .slice(0, mostSessions)
    .map(({ id, title }) => ({
      // A name in quotes cannot have any, and the number sign stands before the id.
      value: `session:${title
        .replace(/["#\p{Cc}]+/gu, ' ')
        .slice(0, longestTitle)
        .trim()}#${id}`,
      name: found(markHidden(title), wanted),
      hint: own('session'),
      about: '',
      aside: [],
    }))
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
