/** A plan that a model presents: its blocks, which a user comments on, and what is sent back. */

/** A part of a plan that is drawn and commented on by itself. Its line is the first one, from 1. */
export type Block = { line: number; text: string }

const fence = /^\s*(`{3,}|~{3,})/
const opens = /^\s*([-*+]|\d+[.)])\s|^#{1,6}\s/

/**
 * The blocks of a plan: each heading, paragraph, item of a list, table and piece of code. An indented text
 * belongs to the item above it.
 */
export function blocksOf(plan: string): Block[] {
  const blocks: Block[] = []
  let closing: string | undefined
  let joins = false
  plan.split('\n').forEach((text, at) => {
    const last = blocks.at(-1)
    if (closing !== undefined && last) {
      last.text += `\n${text}`
      if (text.trim().startsWith(closing)) closing = undefined
      return
    }
    const mark = fence.exec(text)?.[1]
    if (mark) closing = mark
    if (text.trim() === '') {
      joins = false
      return
    }
    if (joins && last && !mark && !opens.test(text)) last.text += `\n${text}`
    else blocks.push({ line: at + 1, text })
    joins = !/^#{1,6}\s/.test(text)
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
