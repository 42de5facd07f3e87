/** What a model asks its user, and what the user answers (agent/ask has the same in Go). */
import { argumentsOf } from './json'

type Choosable = { label: string; description: string; preview: string }

export type AskedQuestion = {
  question: string
  header: string
  options: readonly Choosable[]
  /** Whether several options may be chosen. */
  several: boolean
}

/** The answer to one question: labels of options, and what the user wrote. */
export type Reply = { chosen: readonly string[]; text: string }

export const nothing: Reply = { chosen: [], text: '' }

const texts = (value: unknown): string => (typeof value === 'string' ? value : '')
const records = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter((it) => it !== null && typeof it === 'object') : []

/** The questions of a call; none if its arguments cannot be read. */
export const questionsOf = (input: string): AskedQuestion[] =>
  records(argumentsOf(input).questions).map((it) => ({
    question: texts(it.question),
    header: texts(it.header),
    several: it.multiSelect === true,
    options: records(it.options).map((option) => ({
      label: texts(option.label),
      description: texts(option.description),
      preview: texts(option.preview),
    })),
  }))

/** The answers in a reply, in the order of the questions; none if it cannot be read. */
export const repliesOf = (reply: string): Reply[] =>
  records(argumentsOf(reply).answers).map((it) => ({
    chosen: Array.isArray(it.chosen) ? it.chosen.filter((label) => typeof label === 'string') : [],
    text: texts(it.text),
  }))

/** A reply as the tool reads it. */
export const asReply = (replies: readonly Reply[]): string =>
  JSON.stringify({ answers: replies.map(({ chosen, text }) => ({ chosen, text: text.trim() })) })

export const isAnswered = ({ chosen, text }: Reply): boolean =>
  chosen.length > 0 || text.trim() !== ''

/** An answer in which an option was pressed: it is chosen, or not any more. */
export function pressed(reply: Reply, label: string, several: boolean): Reply {
  const isChosen = reply.chosen.includes(label)
  if (!several) return { ...reply, chosen: isChosen ? [] : [label] }
  const chosen = isChosen
    ? reply.chosen.filter((other) => other !== label)
    : [...reply.chosen, label]
  return { ...reply, chosen }
}
