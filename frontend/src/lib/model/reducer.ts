/** The reducer that turns events, both stored and live, into the entries of a conversation. */
import { endHook, repeatsHook, tells } from './hookEnds'
import { leaveHook, printHook, startHook } from './runningHooks'
import { isCommandLike } from './activity'
import { dropStreaming, endThinking, finishAnswer, grow, openAnswer, timeThinking } from './answers'
import {
  callEntry,
  commandEntry,
  findCall,
  findCommand,
  finishCall,
  finishCommand,
  noDraft,
} from './calls'
import { replace, type Writable, writable } from './change'
import { changedBy } from './changes'
import { finishCompaction, openCompaction, stopCompaction, undoCompaction } from './compactions'
import { isAnswered, type Entry, type PromptEntry, type View } from './entries'
import { spent } from './spending'
import { grownTail, newest } from './tails'
import type { Draft, Event, SteeringInjected } from '../types.gen'

/**
 * Returns the view after events. The given view is not modified, and entries
 * that did not change keep their identity.
 */
export function apply(view: View, events: readonly Event[]): View {
  const next = writable(view)
  for (const event of events) {
    step(next, event)
    if (event.seq) next.seq = Math.max(next.seq, event.seq)
  }
  return next
}

/** Adds what was streamed since the last durable event, which a snapshot contains as a draft. */
export function applyDraft(view: View, draft: Draft): View {
  const next = writable({ ...view, torn: false })
  dropStreaming(next)
  if (draft.text || draft.reasoning) {
    const answer = openAnswer(next)
    const text = newest(draft.text ?? '', draft.text_offset ?? 0)
    const thinking = newest(draft.reasoning ?? '', draft.reasoning_offset ?? 0)
    replace(next, answer, {
      text: text.text,
      textFrom: text.from,
      thinking: thinking.text,
      thinkingFrom: thinking.from,
    })
  }
  for (const [id, tail] of Object.entries(draft.outputs ?? {})) {
    const printing = findCall(next, id) ?? findCommand(next, id)
    if (printing) replace(next, printing, { output: tail.text, outputFrom: tail.offset })
  }
  return next
}

/** The streamed part of a view, which is needed when the view is computed from its durable events again. */
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
    case 'task_change':
    case 'queue_change':
    case 'hooks_change':
    case 'servers_change':
    case 'skills_change':
    case 'rules_change':
    case 'sessions_change':
    case 'session_marks':
    case 'session_forked':
    case 'session_imported':
    case 'session_moved':
      return
    case 'conversation_rewind_undone':
      view.suggestion = undefined
      view.context = 0
      return
    case 'files_restored':
      view.entries.push({
        type: 'notice',
        notice: 'restored',
        key: keyOf(event),
        restored: event.data,
      })
      return
    case 'conversation_rewound':
      view.suggestion = undefined
      view.context = 0
      view.entries.push({
        type: 'notice',
        notice: 'rewound',
        key: keyOf(event),
        id: event.data.id,
        turns: event.data.turns,
      })
      return
    case 'hook_start':
      startHook(view, event.data, event.at)
      return
    case 'hook_output_delta':
      printHook(view, event.data)
      return
    case 'hook_end':
      leaveHook(view, event.data)
      endHook(view, event.data, keyOf(event))
      return
    case 'briefing':
    case 'briefing_update':
      if (event.data.documents?.length) {
        const { documents } = event.data
        view.entries.push({ type: 'notice', notice: 'documents', key: keyOf(event), documents })
      }
      return
    case 'settings': {
      const { provider, model } = event.data.settings
      const before = view.settings
      const isOther = before && (before.provider !== provider || before.model !== model)
      if (isOther && isAnswered(view)) {
        view.entries.push({ type: 'notice', notice: 'model', key: keyOf(event), provider, model })
      }
      view.settings = event.data.settings
      return
    }
    case 'title':
      view.title = event.data.text
      return
    case 'prompt_suggestion':
      // A suggestion by the model must never be a command that one key press runs.
      if (isCommandLike(event.data.text)) return
      view.suggestion = { text: event.data.text, seq: event.seq ?? 0 }
      return
    case 'user_input':
      view.suggestion = undefined
      beginTurn(view, event.at)
      view.entries.push({
        type: 'prompt',
        key: keyOf(event),
        seq: event.seq ?? 0,
        turn: event.turn,
        ...event.data,
      })
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
      replace(view, call, { tool, input, status: 'running', startedAt: event.at, ...noDraft })
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
      view.askedAt ||= event.at
      view.state = 'awaiting_input'
      return
    }
    case 'approval_answer': {
      const call = findCall(view, event.data.call_id)
      // The clock of a call starts when the call is allowed, not when it asks.
      if (call) {
        replace(view, call, { status: 'running', answer: event.data.answer, startedAt: event.at })
      }
      view.pending = view.pending.filter((request) => request.id !== event.data.id)
      view.state = view.pending.length > 0 ? 'awaiting_input' : 'processing'
      if (view.pending.length === 0) endWaiting(view, event.at)
      return
    }
    case 'turn_limit':
      view.entries.push({ type: 'notice', notice: 'limit', key: keyOf(event), ...event.data })
      return
    case 'warning':
      if (repeatsHook(view, event.data)) return
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
    case 'compaction_undone':
      undoCompaction(view, event.data, keyOf(event))
      return
    case 'context_marked':
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
      endWaiting(view, event.at)
      if (event.data.reason === 'refused') refusePrompt(view)
      if (event.data.next) view.state = 'processing'
      view.rounds = event.data.rounds
      view.entries.push({
        type: 'turn',
        key: keyOf(event),
        turn: event.turn,
        reason: event.data.reason,
        usage: event.data.usage,
        cost: event.data.cost,
        durationMs: view.turnStartedAt > 0 ? Math.max(0, event.at - view.turnStartedAt) : 0,
        changed: filesChanged(view.entries),
        ...view.answeredBy,
      })
      view.turnStartedAt = 0
      view.answeredBy = undefined
      return
    default:
      event satisfies never
  }
}

/** Adds a message from the user, or a note from the loop, which joins the notice of what it is about: a repetition, or what a hook said. */
function steer(view: Writable, data: SteeringInjected, event: Event): void {
  const { text, typed, size, by_loop: byLoop, refused, from, media } = data
  const key = keyOf(event)
  const last = view.entries.at(-1)
  if (!byLoop) {
    const seq = event.seq ?? 0
    const message = { text, typed, size, refused, from, media }
    view.entries.push({ type: 'prompt', key, seq, ...message, steered: true })
  } else if (last?.type === 'notice' && last.notice === 'loop' && !last.message) {
    replace(view, last, { message: text })
  } else if (last?.type === 'notice' && last.notice === 'hook' && tells(text, last.hook)) {
    replace(view, last, { note: text })
  } else {
    view.entries.push({ type: 'notice', notice: 'nudge', key, message: text })
  }
}

/** Marks the prompt of the turn that ended as one that the model was not sent. */
function refusePrompt(view: Writable): void {
  const prompt = view.entries.findLast(isPromptOfTurn)
  if (prompt) replace(view, prompt, { refused: true })
}

const isPromptOfTurn = (entry: Entry): entry is PromptEntry =>
  entry.type === 'prompt' && !entry.steered

// Events that could not be stored have no seq, and two of them may have the same time.
const keyOf = (event: Event) => `e${event.seq ?? `@${event.at}.${event.kind}`}`

function beginTurn(view: Writable, at: number): void {
  stopCompaction(view)
  view.state = 'processing'
  view.turnStartedAt = at
  view.askedAt = 0
  view.rounds = 0
  view.answeredBy = undefined
}

/** The user answered: a turn does not last longer because nobody was there. */
function endWaiting(view: Writable, at: number): void {
  if (view.askedAt > 0 && view.turnStartedAt > 0) view.turnStartedAt += at - view.askedAt
  view.askedAt = 0
}

/** Ends the turn and everything in it that still runs or waits. */
function endTurn(view: Writable): void {
  dropStreaming(view)
  stopCompaction(view)
  view.state = 'idle'
  view.pending = []
  view.hooks = undefined
  for (let i = view.entries.length - 1; i >= 0; i--) {
    const entry = view.entries[i]!
    if (entry.type === 'turn') return
    if (entry.type === 'tool' && ['queued', 'running', 'waiting'].includes(entry.status)) {
      view.entries[i] = { ...entry, status: 'interrupted' }
    }
    if (entry.type === 'command' && entry.status === 'running') {
      view.entries[i] = { ...entry, status: 'interrupted' } // because its end could not be stored
    }
  }
}

/** How many files the newest turn's calls changed. */
function filesChanged(entries: readonly Entry[]): number {
  const paths = new Set<string>()
  for (let i = entries.length - 1; i >= 0; i--) {
    const entry = entries[i]!
    if (entry.type === 'turn') break
    if (entry.type !== 'tool') continue
    for (const path of changedBy(entry)) paths.add(path)
  }
  return paths.size
}
