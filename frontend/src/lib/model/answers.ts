/** How events change the answers of a view: they stream, then the complete message replaces them. */
import { callEntry } from './calls'
import { findOpen, replace, type Writable } from './change'
import type { AnswerEntry, ToolEntry } from './entries'
import { spent, tokensHeld } from './spending'
import { joined } from './tails'
import type { TextEnd } from '../types.gen'

/** Appends streamed text to the answer. */
export function grow(
  view: Writable,
  field: 'text' | 'thinking',
  delta: { text: string; offset: number },
) {
  const answer = openAnswer(view)
  const value = joined(answer[field], answer[`${field}From`], delta)
  if (value === undefined) view.torn = true
  else replace(view, answer, { [field]: value.text, [`${field}From`]: value.from })
}

export function timeThinking(view: Writable, at: number): void {
  const answer = openAnswer(view)
  if (answer.thinkingSince === undefined) replace(view, answer, { thinkingSince: at })
}

/** Stops the clock of the thinking, because the model does something else now. */
export function endThinking(view: Writable, at: number): void {
  const answer = streamingAnswer(view)
  if (answer?.thinkingSince === undefined) return
  const thinkingMs = (answer.thinkingMs ?? 0) + at - answer.thinkingSince
  replace(view, answer, { thinkingMs, thinkingSince: undefined })
}

const streamingAnswer = (view: Writable) =>
  findOpen(view, (e): e is AnswerEntry => e.type === 'answer' && e.streaming)

/** The key of an answer, by the event before it: the same for a streamed answer and for the complete message. */
const answerKey = (seq: number) => `a${seq}`

/** The streaming answer, which is created if there is none. */
export function openAnswer(view: Writable): AnswerEntry {
  const open = streamingAnswer(view)
  if (open) return open
  const key = answerKey(view.seq)
  const empty = { text: '', textFrom: 0, thinking: '', thinkingFrom: 0 }
  const fresh: AnswerEntry = { type: 'answer', key, ...empty, streaming: true }
  view.entries.push(fresh)
  return fresh
}

/** Removes what the turn streamed without completing a message, and returns the drafts of calls among it. */
export function dropStreaming(view: Writable): ToolEntry[] {
  const drafts: ToolEntry[] = []
  for (let i = view.entries.length - 1; i >= 0; i--) {
    const entry = view.entries[i]!
    if (entry.type === 'prompt' || entry.type === 'turn') break
    const isDraft = entry.type === 'tool' && entry.status === 'drafting'
    if (isDraft) drafts.push(entry)
    if (isDraft || (entry.type === 'answer' && entry.streaming)) view.entries.splice(i, 1)
  }
  return drafts
}

/** The text and the thinking of a message. */
export function wordsOf({ message }: TextEnd): { text: string; thinking: string } {
  const parts = message.parts ?? []
  const text = parts.map((p) => (p.kind === 'text' ? (p.text ?? '') : '')).join('')
  const thinking = parts.map((p) => p.reasoning?.text ?? '').join('')
  return { text, thinking }
}

export function finishAnswer(view: Writable, end: TextEnd, seq: number, at: number): void {
  const parts = end.message.parts ?? []
  const { text, thinking } = wordsOf(end)
  const key = streamingAnswer(view)?.key ?? answerKey(seq - 1)
  const calls = parts.flatMap(({ call }) => call ?? [])
  const drafts = dropStreaming(view)
  if (text || thinking || isRemarkable(end)) {
    const finish = isRemarkable(end) ? end.finish.reason : undefined
    view.entries.push({
      type: 'answer',
      key,
      text,
      textFrom: 0,
      thinking,
      thinkingFrom: 0,
      thinkingMs: end.thinking_ms,
      streaming: false,
      size: end.size,
      seq,
      finish,
      ...(end.usage.known && { held: tokensHeld(end.usage) }),
    })
  }
  for (const call of calls) {
    const entry = callEntry(view, call.id, call.name, at)
    const outline = drafts.find(({ callId }) => callId === call.id)?.outline
    replace(view, entry, { input: call.arguments, status: 'queued', outline })
  }
  if (end.usage.known) {
    view.context = tokensHeld(end.usage)
  }
  if (view.rounds !== undefined && calls.length > 0) view.rounds++
  view.cost = spent(view.cost, end.cost)
  view.answeredBy = { provider: end.provider, model: end.model }
}

/** Whether the message ended for a reason that the user should know. */
const isRemarkable = ({ finish }: TextEnd) =>
  ['length', 'content_filter', 'refusal', 'context_overflow'].includes(finish.reason)
