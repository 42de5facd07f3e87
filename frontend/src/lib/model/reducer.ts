/** The one reducer: events of history and of the live stream become entries alike. */
import { isCommandLike } from './activity'
import { spent, tokensHeld } from './spending'
import type {
  CompactionEnd,
  Draft,
  Event,
  LocalCommandEnd,
  SteeringInjected,
  TextEnd,
  ToolCallEnd,
} from '../types.gen'
import type { AnswerEntry, CommandEntry, CompactionEntry, Entry, ToolEntry, View } from './entries'
import { grownTail, joined } from './tails'

type Writable = { -readonly [K in keyof View]: View[K] } & { entries: Entry[] }

/**
 * Returns the view after events. The given view and its entries stay as they
 * are; entries that did not change keep their identity.
 */
export function apply(view: View, events: readonly Event[]): View {
  const next: Writable = { ...view, entries: [...view.entries] }
  for (const event of events) {
    step(next, event)
    if (event.seq) next.seq = Math.max(next.seq, event.seq)
  }
  return next
}

/** Adds what was streamed since the last durable event, as a snapshot gives it. */
export function applyDraft(view: View, draft: Draft): View {
  const next: Writable = { ...view, entries: [...view.entries], torn: false }
  dropStreaming(next)
  if (draft.text || draft.reasoning) {
    const answer = openAnswer(next)
    replace(next, answer, {
      text: draft.text ?? '',
      textFrom: draft.text_offset ?? 0,
      thinking: draft.reasoning ?? '',
      thinkingFrom: draft.reasoning_offset ?? 0,
    })
  }
  for (const [id, tail] of Object.entries(draft.outputs ?? {})) {
    const printing = findCall(next, id) ?? findCommand(next, id)
    if (printing) replace(next, printing, { output: tail.text, outputFrom: tail.offset })
  }
  return next
}

/** The streamed part of a view, separate so that it can be folded again from its events. */
export function draftOf(view: View): Draft {
  const outputs: Draft['outputs'] = {}
  let draft: Draft = { outputs }
  for (const entry of view.entries) {
    if (entry.type === 'answer' && entry.streaming) {
      draft = {
        ...draft,
        text: entry.text,
        text_offset: entry.textFrom,
        reasoning: entry.thinking,
        reasoning_offset: entry.thinkingFrom,
      }
    }
    if (entry.type === 'tool' && entry.status === 'running') {
      outputs[entry.callId] = { text: entry.output, offset: entry.outputFrom }
    }
    if (entry.type === 'command' && entry.status === 'running') {
      outputs[entry.id] = { text: entry.output, offset: entry.outputFrom }
    }
  }
  return draft
}

function step(view: Writable, event: Event): void {
  switch (event.kind) {
    case 'session_start':
    case 'session_end':
    case 'hook_start':
    case 'hook_output_delta':
    case 'task_change':
      return
    case 'hook_end': {
      const { failed, decision, message, input } = event.data
      if (failed || decision || message || input) {
        view.entries.push({ type: 'notice', notice: 'hook', key: keyOf(event), ...event.data })
      }
      return
    }
    case 'briefing':
    case 'briefing_update':
      if (event.data.documents?.length) {
        const { documents } = event.data
        view.entries.push({ type: 'notice', notice: 'documents', key: keyOf(event), documents })
      }
      return
    case 'settings':
      view.settings = event.data.settings
      return
    case 'title':
      view.title = event.data.text
      return
    case 'prompt_suggestion':
      // A model's words never become a command that is one key from being run.
      if (isCommandLike(event.data.text)) return
      view.suggestion = { text: event.data.text, seq: event.seq ?? 0 }
      return
    case 'user_input':
      view.suggestion = undefined
      beginTurn(view, event.at)
      view.entries.push({ type: 'prompt', key: keyOf(event), seq: event.seq ?? 0, ...event.data })
      return
    case 'turn_continued':
      beginTurn(view, event.at)
      return
    case 'loop_detection': {
      const { calls } = event.data
      view.entries.push({ type: 'notice', notice: 'loop', key: keyOf(event), calls })
      return
    }
    case 'steering_injected':
      steer(view, event.data, event)
      return
    case 'assistant_text_start':
      dropStreaming(view)
      return
    case 'reasoning_delta':
      grow(view, 'thinking', event.data)
      timeThinking(view, event.at)
      return
    case 'assistant_text_delta':
      grow(view, 'text', event.data)
      endThinking(view, event.at)
      return
    case 'assistant_text_end':
      finishAnswer(view, event.data, event.seq ?? 0, event.at)
      return
    case 'tool_call_draft': {
      const { call_id: callId, tool, bytes, outline } = event.data
      endThinking(view, event.at)
      replace(view, callEntry(view, callId, tool, event.at), { draftBytes: bytes, outline })
      return
    }
    case 'tool_call_start': {
      const { call_id: callId, tool, input } = event.data
      const call = callEntry(view, callId, tool, event.at)
      replace(view, call, { tool, input, status: 'running', startedAt: event.at })
      return
    }
    case 'tool_call_output_delta': {
      const call = findCall(view, event.data.call_id)
      if (call) replace(view, call, grownTail(call, event.data))
      return
    }
    case 'tool_call_end':
      finishCall(view, event.data, event.seq, event.at)
      return
    case 'local_command_start':
      view.state = 'processing'
      commandEntry(view, event.data.id, event.data.command, event.at)
      return
    case 'local_command_output_delta': {
      const command = findCommand(view, event.data.id)
      if (command) replace(view, command, grownTail(command, event.data))
      return
    }
    case 'local_command_end':
      finishCommand(view, event.data, event.seq, event.at)
      return
    case 'approval_request': {
      const { call_id: callId, tool, input } = event.data
      const call = callEntry(view, callId, tool, event.at)
      replace(view, call, { tool, input, status: 'waiting', approval: event.data })
      view.pending = [...view.pending, event.data]
      view.state = 'awaiting_input'
      return
    }
    case 'approval_answer': {
      const call = findCall(view, event.data.call_id)
      // The clock of a call starts when it may run, not when it asked.
      if (call) {
        replace(view, call, { status: 'running', answer: event.data.answer, startedAt: event.at })
      }
      view.pending = view.pending.filter((request) => request.id !== event.data.id)
      view.state = view.pending.length > 0 ? 'awaiting_input' : 'processing'
      return
    }
    case 'turn_limit':
      view.entries.push({ type: 'notice', notice: 'limit', key: keyOf(event), ...event.data })
      return
    case 'warning':
      view.entries.push({ type: 'notice', notice: 'warning', key: keyOf(event), ...event.data })
      return
    case 'history_repaired':
      view.entries.push({
        type: 'notice',
        notice: 'repair',
        key: keyOf(event),
        ...event.data,
        repair: event.data.repair ?? 'native',
      })
      return
    case 'compaction_start': {
      const { trigger } = event.data
      view.entries.push({ type: 'notice', notice: 'compaction', key: keyOf(event), trigger })
      if (trigger === 'manual') view.state = 'processing'
      return
    }
    case 'compaction_phase': {
      const open = openCompaction(view)
      if (open) replace(view, open, { phase: event.data.phase })
      return
    }
    case 'compaction_end':
      finishCompaction(view, event.data, keyOf(event))
      return
    case 'side_request':
      view.cost = spent(view.cost, event.data.cost)
      return
    case 'rate_limit':
      view.allowance = event.data
      return
    case 'retrying':
      dropStreaming(view)
      if (event.data.sent || event.data.usage) view.cost = spent(view.cost, event.data.cost)
      view.entries.push({
        type: 'notice',
        notice: 'retry',
        key: keyOf(event),
        at: event.at,
        ...event.data,
      })
      return
    case 'error':
      view.entries.push({
        type: 'notice',
        notice: 'error',
        key: keyOf(event),
        failure: event.data,
      })
      return
    case 'processing_end':
      endTurn(view)
      if (event.data.next) view.state = 'processing'
      view.rounds = event.data.rounds
      view.entries.push({
        type: 'turn',
        key: keyOf(event),
        reason: event.data.reason,
        usage: event.data.usage,
        cost: event.data.cost,
        durationMs: Math.max(0, event.at - view.turnStartedAt),
        changed: filesChanged(view.entries),
        ...view.answeredBy,
      })
      return
    default:
      event satisfies never
  }
}

/** The user's words in a turn, or a note of the loop's own; one on repetition explains itself. */
function steer(view: Writable, data: SteeringInjected, event: Event): void {
  const { text, by_loop: byLoop } = data
  const key = keyOf(event)
  const last = view.entries.at(-1)
  if (!byLoop) {
    view.entries.push({ type: 'prompt', key, seq: event.seq ?? 0, text, steered: true })
  } else if (last?.type === 'notice' && last.notice === 'loop' && !last.message) {
    replace(view, last, { message: text })
  } else {
    view.entries.push({ type: 'notice', notice: 'nudge', key, message: text })
  }
}

// Events that could not be stored have no place, and two of them may have one time.
const keyOf = (event: Event) => `e${event.seq ?? `@${event.at}.${event.kind}`}`

function grow(view: Writable, field: 'text' | 'thinking', delta: { text: string; offset: number }) {
  const answer = openAnswer(view)
  const value = joined(answer[field], answer[`${field}From`], delta)
  if (value === undefined) view.torn = true
  else replace(view, answer, { [field]: value.text, [`${field}From`]: value.from })
}

function timeThinking(view: Writable, at: number): void {
  const answer = openAnswer(view)
  if (answer.thinkingSince === undefined) replace(view, answer, { thinkingSince: at })
}

/** Whatever the model does next, it has stopped thinking. */
function endThinking(view: Writable, at: number): void {
  const answer = streamingAnswer(view)
  if (answer?.thinkingSince === undefined) return
  const thinkingMs = (answer.thinkingMs ?? 0) + at - answer.thinkingSince
  replace(view, answer, { thinkingMs, thinkingSince: undefined })
}

function replace<E extends Entry>(view: Writable, entry: E, change: Partial<E>): void {
  const index = view.entries.lastIndexOf(entry)
  view.entries[index] = { ...entry, ...change }
}

const streamingAnswer = (view: Writable) =>
  view.entries.findLast((e) => e.type === 'answer' && e.streaming) as AnswerEntry | undefined

/** The key of an answer that begins behind an event: the same one streamed and read. */
const answerKey = (seq: number) => `a${seq}`

function openAnswer(view: Writable): AnswerEntry {
  const open = streamingAnswer(view)
  if (open) return open
  const key = answerKey(view.seq)
  const empty = { text: '', textFrom: 0, thinking: '', thinkingFrom: 0 }
  const fresh: AnswerEntry = { type: 'answer', key, ...empty, streaming: true }
  view.entries.push(fresh)
  return fresh
}

/** Takes back what the turn streamed and did not end by a whole message. */
function dropStreaming(view: Writable): void {
  for (let i = view.entries.length - 1; i >= 0; i--) {
    const entry = view.entries[i]!
    if (entry.type === 'prompt' || entry.type === 'turn') return
    const isVoid =
      (entry.type === 'answer' && entry.streaming) ||
      (entry.type === 'tool' && entry.status === 'drafting')
    if (isVoid) view.entries.splice(i, 1)
  }
}

/** What a message says, and what its model thought. */
export function wordsOf({ message }: TextEnd): { text: string; thinking: string } {
  const parts = message.parts ?? []
  const text = parts.map((p) => (p.kind === 'text' ? (p.text ?? '') : '')).join('')
  const thinking = parts.map((p) => p.reasoning?.text ?? '').join('')
  return { text, thinking }
}

function finishAnswer(view: Writable, end: TextEnd, seq: number, at: number): void {
  const parts = end.message.parts ?? []
  const { text, thinking } = wordsOf(end)
  const key = streamingAnswer(view)?.key ?? answerKey(seq - 1)
  dropStreaming(view)
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
    })
  }
  for (const { call } of parts) {
    if (!call) continue
    const entry = callEntry(view, call.id, call.name, at)
    replace(view, entry, { input: call.arguments, status: 'queued', ...noDraft })
  }
  if (end.usage.known) {
    view.context = tokensHeld(end.usage)
  }
  const hasCalls = parts.some((part) => part.call)
  if (view.rounds !== undefined && hasCalls) view.rounds++
  view.cost = spent(view.cost, end.cost)
  view.answeredBy = { provider: end.provider, model: end.model }
}

/** A call that is written is known better than from its draft. */
const noDraft = { draftBytes: undefined, outline: undefined }

const isRemarkable = ({ finish }: TextEnd) =>
  ['length', 'content_filter', 'refusal', 'context_overflow'].includes(finish.reason)

const openCompaction = (view: Writable) =>
  view.entries.findLast((e) => e.type === 'notice' && e.notice === 'compaction' && !e.end) as
    CompactionEntry | undefined

/** Ends a compaction whose end could not be stored; what it came to in tokens nobody knows. */
function stopCompaction(view: Writable): void {
  const open = openCompaction(view)
  if (!open) return
  const unknown = { tokens_before: 0, tokens_after: 0, duration_ms: 0 }
  replace(view, open, { end: { trigger: open.trigger, outcome: 'interrupted', ...unknown } })
}

/** What it came to; a page of history may begin in its middle. */
function finishCompaction(view: Writable, end: CompactionEnd, key: string): void {
  const open = openCompaction(view)
  if (open) replace(view, open, { end })
  else view.entries.push({ type: 'notice', notice: 'compaction', key, trigger: end.trigger, end })
  if (end.outcome === 'done') view.context = end.tokens_after
  if (end.trigger === 'manual') view.state = 'idle'
}

const findCall = (view: Writable, callId: string) =>
  view.entries.findLast((e) => e.type === 'tool' && e.callId === callId) as ToolEntry | undefined

/** The call's entry, made on first mention: a page of history may begin in its middle. */
function callEntry(view: Writable, callId: string, tool: string, at: number): ToolEntry {
  const found = findCall(view, callId)
  if (found) return found
  const fresh: ToolEntry = {
    type: 'tool',
    key: `c${callId}`,
    callId,
    tool,
    input: '',
    status: 'drafting',
    output: '',
    outputFrom: 0,
    startedAt: at,
  }
  view.entries.push(fresh)
  return fresh
}

function finishCall(view: Writable, end: ToolCallEnd, seq: number | undefined, at: number): void {
  view.pending = view.pending.filter((request) => request.call_id !== end.call_id)
  replace(view, callEntry(view, end.call_id, end.tool, at), {
    tool: end.tool,
    status: end.outcome,
    output: end.output,
    outputFrom: 0,
    durationMs: end.duration_ms,
    details: end.details,
    size: end.size,
    media: end.media,
    seq,
    ...noDraft,
  })
}

const findCommand = (view: Writable, id: string) =>
  view.entries.findLast((e) => e.type === 'command' && e.id === id) as CommandEntry | undefined

/** The entry of a command, made on first mention as that of a call is. */
function commandEntry(view: Writable, id: string, command: string, at: number): CommandEntry {
  const found = findCommand(view, id)
  if (found) return found
  const fresh: CommandEntry = {
    type: 'command',
    key: `l${id}`,
    id,
    command,
    status: 'running',
    output: '',
    outputFrom: 0,
    startedAt: at,
  }
  view.entries.push(fresh)
  return fresh
}

function finishCommand(
  view: Writable,
  { id, command, output, outcome, duration_ms: durationMs, size, result }: LocalCommandEnd,
  seq: number | undefined,
  at: number,
): void {
  view.state = 'idle'
  const entry = commandEntry(view, id, command, at)
  const change = { status: outcome, output, outputFrom: 0, durationMs, size, result, seq }
  replace(view, entry, change)
}

/** How many files the newest turn's edits changed. */
function filesChanged(entries: readonly Entry[]): number {
  const paths = new Set<string>()
  for (let i = entries.length - 1; i >= 0; i--) {
    const entry = entries[i]!
    if (entry.type === 'turn') break
    if (entry.type !== 'tool' || entry.status !== 'done') continue
    for (const change of entry.details?.changes ?? []) paths.add(change.path)
  }
  return paths.size
}

function beginTurn(view: Writable, at: number): void {
  stopCompaction(view)
  view.state = 'processing'
  view.turnStartedAt = at
  view.rounds = 0
  view.answeredBy = undefined
}

/** Nothing runs or waits beyond its turn, however the turn ended. */
function endTurn(view: Writable): void {
  dropStreaming(view)
  stopCompaction(view)
  view.state = 'idle'
  view.pending = []
  for (let i = view.entries.length - 1; i >= 0; i--) {
    const entry = view.entries[i]!
    if (entry.type === 'turn') return
    if (entry.type === 'tool' && ['queued', 'running', 'waiting'].includes(entry.status)) {
      view.entries[i] = { ...entry, status: 'interrupted' }
    }
    if (entry.type === 'command' && entry.status === 'running') {
      view.entries[i] = { ...entry, status: 'interrupted' } // its end could not be stored
    }
  }
}
