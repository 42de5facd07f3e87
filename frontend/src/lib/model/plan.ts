/** A plan that a model presents: its blocks, which a user comments on, and what is sent back. */

/**
 * A part of a plan that is drawn and commented on by itself. Its line is the first one, from 1; its text
 * stands without the indent that its first line has, in spaces.
 */
export type Block = { line: number; text: string; indent: number }

const fence = /^\s*(`{3,}|~{3,})/
const item = /^\s*([-*+]|\d+[.)])\s/
const heading = /^#{1,6}\s/

const indentOf = (line: string) => /^\s*/.exec(line)![0].replaceAll('\t', '    ').length

/** A line without an indent; a line that has less of it loses what it has. */
const outdented = (line: string, by: number) =>
  by > 0 ? line.replaceAll('\t', '    ').replace(new RegExp(`^ {0,${by}}`), '') : line

/**
 * The blocks of a plan: each heading, paragraph, item of a list, table and piece of code. What is indented
 * below an item belongs to it.
 */
export function blocksOf(plan: string): Block[] {
  const blocks: Block[] = []
  let closing: string | undefined
  /** What stands before the next line of the last block; undefined if that has ended. */
  let joint: string | undefined
  plan.split('\n').forEach((line, at) => {
    const last = blocks.at(-1)
    if (closing !== undefined && last) {
      last.text += `\n${outdented(line, last.indent)}`
      if (line.trim().startsWith(closing)) {
        closing = undefined
        joint = undefined
      }
      return
    }
    if (line.trim() === '') {
      if (joint !== undefined) joint = '\n\n'
      return
    }
    const mark = fence.exec(line)?.[1]
    const isInside = indentOf(line) > (last?.indent ?? 0)
    const goesOn = joint === '\n' && !mark
    if (last && joint && (goesOn || isInside) && !item.test(line) && !heading.test(line)) {
      last.text += `${joint}${outdented(line, last.indent)}`
    } else {
      const indent = indentOf(line)
      blocks.push({ line: at + 1, text: outdented(line, indent), indent })
    }
    closing = mark
    joint = heading.test(line) ? undefined : '\n'
  })
  return blocks
}

/** The title of a plan: its first heading, or its first line. */
export function titleOf(plan: string): string {
  const lines = plan.split('\n').map((line) => line.trim())
  const first = lines.find((line) => /^#{1,6}\s/.test(line)) ?? lines.find((line) => line !== '')
  return (first ?? '').replace(/^#{1,6}\s+/, '')
}

/** What the user said about a plan: comments by the lines where their blocks begin, and the rest. */
export type Remarks = { comments: Readonly<Record<number, string>>; rest: string }

/** The remarks as a text for the model; empty if there are none. */
export function remarksText(plan: string, { comments, rest }: Remarks): string {
  const about = blocksOf(plan).flatMap(({ line, text }) => {
    const comment = comments[line]?.trim()
    if (!comment) return []
    const quote = text.split('\n')[0]!.trim().slice(0, 200)
    return [`On line ${line} (“${quote}”): ${comment}`]
  })
  return [...about, rest.trim()].filter(Boolean).join('\n\n')
}

/** What a call of ExitPlanMode keeps: the approved plan. */
export function approvedPlan(state: unknown): { plan: string; edited: boolean } | undefined {
  const { plan, edited } = (state ?? {}) as { plan?: unknown; edited?: unknown }
  return typeof plan === 'string' ? { plan, edited: edited === true } : undefined
}
