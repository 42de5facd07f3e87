import { describe, expect, test } from 'vitest'
import type { Event } from '../types.gen'
import { isCompacting } from './compaction'
import { type CommandEntry, emptyView, heldIn, type ToolEntry, type View } from './entries'
import { Head } from './head'
import { canContinue } from './turn'
import { Log, message, noUsage, sampleTurn, text, toolCall } from './testing'
import { isCommandRunning } from './localCommand'
import { apply, applyDraft, draftOf } from './reducer'

/** The entries without their keys, which differ between live and stored events. */
const shown = (view: View) => view.entries.map((entry) => ({ ...entry, key: '' }))
const callOf = (view: View) => view.entries.find((e) => e.type === 'tool') as ToolEntry

describe('history and live', () => {
  test('give the same entries', () => {
    const log = sampleTurn()
    const live = log.events.reduce((view, event) => apply(view, [event]), emptyView)
    const history = apply(emptyView, log.durable)
    expect(shown(live)).toEqual(shown(history))
    expect(live).toMatchObject({ state: 'idle', seq: 7, context: 18, torn: false, pending: [] })
  })

  test('a page that is opened during a turn continues from the draft', () => {
    const log = sampleTurn()
    for (let cut = 1; cut <= log.events.length; cut++) {
      const before = log.events.slice(0, cut)
      const live = apply(emptyView, before)
      const durable = apply(
        emptyView,
        before.filter((event) => event.seq !== undefined),
      )
      const opened = applyDraft(durable, draftOf(live))
      // A delta that the draft already contains may arrive again.
      const rest = log.events.slice(cut - 1).filter((event, i) => i > 0 || !event.seq)
      expect(shown(apply(opened, rest))).toEqual(shown(apply(emptyView, log.durable)))
    }
  })

  test('the given view is not modified', () => {
    const { events } = sampleTurn()
    const view = Object.freeze(apply(emptyView, events.slice(0, 5)))
    const copy = structuredClone(view)
    apply(view, events.slice(5))
    expect(view).toEqual(copy)
  })

  test('entries that do not change keep their identity', () => {
    const { events } = sampleTurn()
    const before = apply(emptyView, events.slice(0, 8))
    const after = apply(before, events.slice(8))
    expect(after.entries[0]).toBe(before.entries[0])
    expect(after.entries[1]).toBe(before.entries[1])
  })
})

describe('streamed text', () => {
  const streaming = (...events: [string, number][]) => {
    const log = new Log()
    log.add('user_input', { text: 'x' })
    log.add('assistant_text_start', {})
    for (const [value, offset] of events) log.add('assistant_text_delta', { text: value, offset })
    return apply(emptyView, log.events)
  }

  test('overlap is skipped, in UTF-16 units', () => {
    const view = streaming(['a😀b', 0], ['😀bc', 1], ['d', 5])
    expect(view.entries[1]).toMatchObject({ text: 'a😀bcd' })
    expect(view.torn).toBe(false)
  })

  test('a gap is reported and not filled', () => {
    const view = streaming(['ab', 0], ['ef', 4])
    expect(view.torn).toBe(true)
    expect(view.entries[1]).toMatchObject({ text: 'ab' })
  })

  test('a new start removes the unfinished answer, even before a warning', () => {
    const log = new Log()
    log.add('user_input', { text: 'x' })
    log.add('assistant_text_delta', { text: 'half an ans', offset: 0 })
    log.add('warning', { code: 'retry', message: 'Trying again.' })
    log.add('assistant_text_start', {})
    log.add('assistant_text_delta', { text: 'whole', offset: 0 })
    const types = apply(emptyView, log.events).entries.map((e) => e.type)
    expect(types).toEqual(['prompt', 'notice', 'answer'])
  })

  test('live output that skipped ahead shows its tail', () => {
    const log = new Log()
    log.add('tool_call_start', { call_id: 'c', tool: 'Bash', input: '{}' })
    log.add('tool_call_output_delta', { call_id: 'c', text: 'begin', offset: 0 })
    log.add('tool_call_output_delta', { call_id: 'c', text: 'far', offset: 900 })
    log.add('tool_call_output_delta', { call_id: 'c', text: 'ther', offset: 903 })
    const view = apply(emptyView, log.events)
    expect(callOf(view)).toMatchObject({ output: 'farther', outputFrom: 900 })
    expect(view.torn).toBe(false)
  })
})

describe('calls', () => {
  test('a draft shows its file changes until the call runs', () => {
    const log = new Log()
    const draft = { call_id: 'c1', tool: 'ApplyPatch' }
    const changes = [{ path: 'a', added: 2, removed: 1, diff: '' }]
    log.add('tool_call_draft', { ...draft, bytes: 9 })
    log.add('tool_call_draft', { ...draft, bytes: 90, outline: { changes, earlier: 3 } })
    const view = apply(emptyView, log.events)
    expect(callOf(view)).toMatchObject({ draftBytes: 90, outline: { changes, earlier: 3 } })
    log.add('assistant_text_end', message([toolCall('c1', 'ApplyPatch')], 'tool_calls'))
    const queued = callOf(apply(emptyView, log.events))
    expect(queued).toMatchObject({ status: 'queued', outline: { changes } })
    expect(queued.draftBytes).toBeUndefined()
    log.add('tool_call_start', { call_id: 'c1', tool: 'ApplyPatch', input: '{}' })
    expect(callOf(apply(emptyView, log.events)).outline).toBeUndefined()
  })

  test('a call that needs approval is pending until it is answered', () => {
    const { events } = sampleTurn()
    const asked = apply(emptyView, events.slice(0, 9))
    expect(asked.state).toBe('awaiting_input')
    expect(asked.pending.map((request) => request.id)).toEqual(['a1'])
    expect(callOf(asked).status).toBe('waiting')
    const answered = apply(asked, events.slice(9, 10))
    expect(answered).toMatchObject({ state: 'processing', pending: [] })
    expect(callOf(answered).status).toBe('running')
  })

  test('the end of a turn interrupts its running and waiting calls', () => {
    const { events } = sampleTurn()
    const end: Event = {
      session_id: 's',
      seq: 99,
      at: 9999,
      kind: 'processing_end',
      data: { reason: 'crashed', rounds: 1, usage: noUsage },
    }
    const view = apply(apply(emptyView, events.slice(0, 9)), [end])
    expect(callOf(view).status).toBe('interrupted')
    expect(view).toMatchObject({ state: 'idle', pending: [] })
    expect(view.entries.at(-1)).toMatchObject({ type: 'turn', reason: 'crashed', model: 'tour' })
  })

  test('history that begins in the middle of a call still shows it', () => {
    const { durable } = sampleTurn()
    const view = apply(emptyView, durable.slice(-2))
    expect(callOf(view)).toMatchObject({ tool: 'Bash', output: 'one\ntwo\n', status: 'done' })
  })
})

test('a truncated answer has its reason; an empty answer has no entry', () => {
  const log = new Log()
  log.add('assistant_text_end', message([text('So')], 'length'))
  log.add('assistant_text_end', message([]))
  const view = apply(emptyView, log.events)
  expect(view.entries).toMatchObject([{ type: 'answer', text: 'So', finish: 'length' }])
})

test('the costs of requests are added up, and a turn has its own sum', () => {
  const log = new Log()
  log.add('user_input', { text: 'x' })
  log.add('assistant_text_end', { ...message([text('a')]), cost: 0.25 })
  log.add('assistant_text_end', message([text('b')]))
  log.add('assistant_text_end', { ...message([text('c')]), cost: 0.5 })
  const cost = { usd: 0.75, unknown: 1 }
  log.add('processing_end', { reason: 'done', rounds: 3, usage: noUsage, cost })
  const view = apply(emptyView, log.events)
  expect(view.cost).toEqual(cost)
  expect(view.entries.at(-1)).toMatchObject({ type: 'turn', cost })
})

test('the cost of failed answers is counted', () => {
  const log = new Log()
  const failed = {
    provider: 'p',
    model: 'm',
    attempt: 1,
    of: 3,
    delay_ms: 0,
    code: 'server',
    message: 'x',
  }
  log.add('retrying', failed)
  log.add('retrying', { ...failed, sent: true })
  log.add('retrying', { ...failed, usage: { ...noUsage, known: true }, cost: 0.5 })
  expect(apply(emptyView, log.events).cost).toEqual({ usd: 0.5, unknown: 1 })
})

test('the session follows its title and settings', () => {
  const log = new Log()
  const settings = { provider: 'demo', model: 'tour', mode: 'plan' as const }
  log.add('title', { text: 'New name' })
  log.add('settings', { settings })
  expect(apply(emptyView, log.events)).toMatchObject({ title: 'New name', settings, entries: [] })
})

// LLM-32
test('the newest report of the allowance replaces older ones', () => {
  const log = new Log()
  const report = (remaining: number) => ({
    provider: 'acme',
    limit: { requests: { limit: 10, remaining } },
  })
  log.add('rate_limit', report(9))
  log.add('rate_limit', report(8))
  const view = apply(emptyView, log.events)
  expect(view.allowance).toEqual(report(8))
  expect(view.entries).toEqual([])
})

test('a change of the model within a session is a notice where the new one begins', () => {
  const marks = (log: Log) =>
    apply(emptyView, log.events).entries.filter(
      (entry) => entry.type === 'notice' && entry.notice === 'model',
    )
  const begin = (...models: string[]) => {
    const log = new Log()
    const settings = (provider: string, model: string) =>
      log.add('settings', { settings: { provider, model, mode: 'default' } })
    settings('acme', 'one')
    settings('acme', 'before-anything-was-said')
    log.add('assistant_text_end', {
      message: { role: 'assistant', parts: [{ kind: 'text', text: 'Yes.' }] },
      usage: { known: false },
      finish: { reason: 'stop' },
      provider: 'acme',
      model: 'one',
    } as never)
    for (const name of models) settings(...(name.split('/') as [string, string]))
    return marks(log)
  }
  expect(begin()).toEqual([])
  expect(begin('acme/before-anything-was-said')).toEqual([])
  expect(begin('acme/two')).toMatchObject([{ provider: 'acme', model: 'two' }])
  expect(begin('other/before-anything-was-said')).toMatchObject([{ provider: 'other' }])
  expect(begin('acme/two', 'acme/two')).toHaveLength(1)
  expect(begin('acme/two', 'acme/one')).toMatchObject([{ model: 'two' }, { model: 'one' }])
})

test('a repair is a notice; without a kind it is the first kind', () => {
  const log = new Log()
  log.add('history_repaired', { message: 'Sent again.' })
  log.add('history_repaired', { message: 'Sent otherwise.', repair: 'pictures' })
  expect(apply(emptyView, log.events).entries).toMatchObject([
    { notice: 'repair', repair: 'native', message: 'Sent again.' },
    { notice: 'repair', repair: 'pictures', message: 'Sent otherwise.' },
  ])
})

test('a compaction that was taken back is a notice, and the context is as large as before', () => {
  const log = new Log()
  log.add('compaction_undone', { compaction: 3, tokens: 9000 })
  const view = apply(emptyView, log.events)
  expect(view.entries).toMatchObject([{ notice: 'compaction', undone: true }])
  expect(view.context).toBe(9000)
  expect(isCompacting(view)).toBe(false)
})

// COM-18, COM-93: a compaction is one notice from its start to its end, and updates the size of the
// context.
test('a compaction has a phase while it runs and a result at its end', () => {
  const log = new Log()
  const tokens = { tokens_before: 9000, tokens_after: 9000 }
  const end = { trigger: 'auto' as const, outcome: 'done' as const, duration_ms: 5, ...tokens }
  log.add('compaction_start', { trigger: 'auto', tokens: 9000 })
  log.add('compaction_phase', { phase: 'summary_start', tool_blocks_dropped: 0, ...tokens })
  const running = apply(emptyView, log.events)
  expect(running.entries).toMatchObject([{ notice: 'compaction', phase: 'summary_start' }])
  expect(running.state).toBe('idle')
  log.add('compaction_end', { ...end, tokens_after: 700, summary: 'S.' })
  const done = apply(emptyView, log.events)
  expect(done.entries).toMatchObject([{ notice: 'compaction', end: { summary: 'S.' } }])
  expect(done.context).toBe(700)
  log.add('compaction_start', { trigger: 'auto', tokens: 9000 })
  log.add('compaction_end', { ...end, outcome: 'failed', message: 'No.' })
  const failed = apply(emptyView, log.events)
  expect(failed.entries).toHaveLength(2)
  expect(failed.context).toBe(700)
})

test('a compaction that the user asked for makes the session busy', () => {
  const log = new Log()
  log.add('compaction_start', { trigger: 'manual', tokens: 9000 })
  expect(apply(emptyView, log.events).state).toBe('processing')
  const end = { tokens_before: 9000, tokens_after: 9000, duration_ms: 5 }
  log.add('compaction_end', { trigger: 'manual', outcome: 'interrupted', ...end })
  expect(apply(emptyView, log.events).state).toBe('idle')
  // A page of history may begin between the start and the end.
  expect(apply(emptyView, log.events.slice(1)).entries).toHaveLength(1)
})

// COM-93: a compaction that never ended would make every later turn look like a compaction.
test.each<[string, (log: Log) => unknown]>([
  [
    'the end of its turn',
    (log) => log.add('processing_end', { reason: 'failed', rounds: 0, usage: noUsage }),
  ],
  ['a newer prompt', (log) => log.add('user_input', { text: 'Go' })],
  ['a turn that is continued', (log) => log.add('turn_continued', {})],
])('a compaction whose end could not be stored ends with %s', (_, goOn) => {
  const log = new Log()
  log.add('compaction_start', { trigger: 'manual', tokens: 9000 })
  expect(isCompacting(apply(emptyView, log.events))).toBe(true)
  goOn(log)
  const view = apply({ ...emptyView, context: 9000 }, log.events)
  expect(view.entries[0]).toMatchObject({ notice: 'compaction', end: { outcome: 'interrupted' } })
  expect(view.context).toBe(9000)
  expect(isCompacting(view)).toBe(false)
})

test('a call keeps its pictures and the event that holds them', () => {
  const log = sampleTurn()
  const media = [{ mime: 'image/png', name: 'shot.png' }]
  const end = { call_id: 'c2', tool: 'Read', output: '', outcome: 'done' as const, duration_ms: 1 }
  const { seq } = log.add('tool_call_end', { ...end, media })
  expect(apply(emptyView, log.events).entries.at(-1)).toMatchObject({ media, seq })
})

// LOOP-14, LOOP-132: a steering message does not begin a turn.
test('a steering message is a prompt within its turn', () => {
  const log = new Log()
  log.add('user_input', { text: 'Go' })
  log.add('steering_injected', { text: 'Shorter', queue_id: 'q' })
  const view = apply(emptyView, log.events)
  expect(view.turnStartedAt).toBe(log.events[0]!.at)
  expect(view.entries).toMatchObject([
    { type: 'prompt', text: 'Go' },
    { type: 'prompt', text: 'Shorter', steered: true },
  ])
})

// LOOP-15, LOOP-133: a session is not idle between an input and its follow-up.
test('a session stays busy if another input follows', () => {
  const end = (next: boolean) => {
    const log = new Log()
    log.add('user_input', { text: 'Go' })
    log.add('processing_end', { reason: 'done', rounds: 0, usage: noUsage, next })
    return apply(emptyView, log.events).state
  }
  expect([end(true), end(false)]).toEqual(['processing', 'idle'])
})

// K-06: a turn that was stopped can be continued, unless the session reached its limit of turns.
test.each([
  ['done', undefined, false],
  ['failed', undefined, true],
  ['interrupted', undefined, true],
  ['limit', 'rounds', true],
  ['limit', 'turns', false],
  ['stopped', undefined, true],
  ['refused', undefined, false],
] as const)('a turn that ended as %s (%s) can be continued: %s', (reason, limit, can) => {
  const log = new Log()
  log.add('user_input', { text: 'Go' })
  if (limit) log.add('turn_limit', { limit, count: 1 })
  log.add('processing_end', { reason, rounds: 3, usage: noUsage })
  const stopped = apply(emptyView, log.events)
  expect(canContinue(stopped)).toBe(can)
  log.add('turn_continued', {})
  const going = apply(emptyView, log.events)
  expect(going).toMatchObject({ state: 'processing', rounds: 0 })
  expect(canContinue(going)).toBe(false)
})

// OAS-661: a message that a hook refused is marked as not sent.
test('a refused message is marked', () => {
  const log = new Log()
  log.add('user_input', { text: 'Go' })
  log.add('steering_injected', { text: 'Faster', refused: true })
  log.add('steering_injected', { text: 'Slower' })
  log.add('processing_end', { reason: 'done', rounds: 1, usage: noUsage })
  log.add('user_input', { text: 'My key is 42' })
  log.add('processing_end', { reason: 'refused', rounds: 0, usage: noUsage })
  const prompts = apply(emptyView, log.events).entries.filter(({ type }) => type === 'prompt')
  expect(prompts.map((prompt) => prompt.type === 'prompt' && Boolean(prompt.refused))).toEqual([
    false,
    true,
    false,
    true,
  ])
})

// OAS-118: a hook without a result is not shown.
test('the result of a hook is a notice', () => {
  const log = new Log()
  const hook = { point: 'preToolUse', name: 'lint', duration_ms: 3 } as const
  log.add('hook_start', { point: 'preToolUse', name: 'lint' })
  log.add('hook_end', hook)
  log.add('hook_end', { ...hook, decision: 'deny', message: 'not on Fridays' })
  expect(apply(emptyView, log.events).entries).toMatchObject([
    { notice: 'hook', hook: { name: 'lint', decision: 'deny', message: 'not on Fridays' } },
  ])
  log.add('hook_end', { ...hook, stopped: true })
  expect(apply(emptyView, log.events).entries.at(-1)).toMatchObject({ hook: { stopped: true } })
})

// OAS-118: what a hook did to a call is on the call's card; what is to be noticed is a notice as well.
test('the result of a hook about a call belongs to that call', () => {
  const log = new Log()
  const hook = { point: 'preToolUse', name: 'guard', call_id: 'a', duration_ms: 3 } as const
  const notice = { title: 'Guarded', body: 'A key.', level: 'warning' } as const
  log.add('user_input', { text: 'Go' })
  log.add('tool_call_start', { call_id: 'a', tool: 'Read', input: '{}' })
  log.add('hook_end', { ...hook, name: 'quiet' })
  log.add('hook_end', { ...hook, decision: 'deny', message: 'no keys', notice })
  const entries = apply(emptyView, log.events).entries.slice(1)
  expect(entries).toMatchObject([
    { type: 'tool', hooks: [{ name: 'guard', message: 'no keys' }] },
    { notice: 'hook', hook: { notice } },
  ])
})

test('a message of a call’s hook to the user is a line of the conversation', () => {
  const log = new Log()
  const hook = { point: 'postToolUse', name: 'format', call_id: 'a', duration_ms: 3 } as const
  log.add('user_input', { text: 'Go' })
  log.add('tool_call_start', { call_id: 'a', tool: 'Edit', input: '{}' })
  log.add('hook_end', { ...hook, message: 'only for the model' })
  log.add('hook_end', { ...hook, said: 'Formatted 3 files.' })
  expect(apply(emptyView, log.events).entries.slice(1)).toMatchObject([
    { type: 'tool', hooks: [{ message: 'only for the model' }, { said: 'Formatted 3 files.' }] },
    { notice: 'hook', hook: { said: 'Formatted 3 files.' } },
  ])
})

test('a refusal is shown once, by its hook if that is known', () => {
  const log = new Log()
  const warning = { id: 'prompt_refused', code: 'hook', message: 'Refused. A password.' } as const
  const hook = { point: 'userPromptSubmit', name: 'guard', duration_ms: 3 } as const
  log.add('user_input', { text: 'Go' })
  log.add('warning', warning)
  log.add('hook_end', { ...hook, decision: 'deny', message: 'A password.' })
  log.add('warning', warning)
  expect(apply(emptyView, log.events).entries.slice(1)).toMatchObject([
    { notice: 'warning' },
    { notice: 'hook' },
  ])
})

test('hooks that run are known until they end, with what they print', () => {
  const log = new Log()
  const guard = { point: 'preToolUse', name: 'guard', call_id: 'a' } as const
  const stop = { point: 'stop', name: 'tests' } as const
  const hooks = () => apply(emptyView, log.events).hooks
  log.add('user_input', { text: 'Go' })
  log.add('hook_start', { ...guard, status: 'Looking…' })
  log.add('hook_output_delta', { ...guard, text: 'first\nsecond  \n' })
  log.add('hook_output_delta', { ...guard, text: '{"decision":"allow"}\n' })
  log.add('hook_start', { point: 'taskCreated', name: 'beside' })
  log.add('hook_start', stop)
  expect(hooks()).toMatchObject([
    { name: 'guard', callId: 'a', status: 'Looking…', line: 'second' },
    { name: 'tests', callId: undefined, line: '' },
  ])
  log.add('hook_end', { ...guard, duration_ms: 1 })
  expect(hooks()).toMatchObject([{ name: 'tests' }])
  log.add('processing_end', { reason: 'interrupted', rounds: 0, usage: noUsage })
  expect(hooks()).toBeUndefined()
})

test('a note from the loop is a notice, and joins the notice about repetition', () => {
  const log = new Log()
  log.add('steering_injected', { text: 'Go on.', by_loop: true })
  log.add('loop_detection', { cycle: 1, calls: 6 })
  log.add('steering_injected', { text: 'Try something else.', by_loop: true })
  expect(apply(emptyView, log.events).entries).toMatchObject([
    { notice: 'nudge', message: 'Go on.' },
    { notice: 'loop', calls: 6, message: 'Try something else.' },
  ])
})

test('thinking is timed while it streams, and has the time of its message afterwards', () => {
  const log = new Log()
  log.add('user_input', { text: 'x' })
  const at = log.add('reasoning_delta', { text: 'H', offset: 0 }).at
  log.add('reasoning_delta', { text: 'm', offset: 1 })
  const thinking = apply(emptyView, log.events)
  expect(thinking.entries[1]).toMatchObject({ thinking: 'Hm', thinkingSince: at })
  log.add('assistant_text_delta', { text: 'So', offset: 0 })
  const answering = apply(emptyView, log.events)
  expect(answering.entries[1]).toMatchObject({ thinkingMs: 2, thinkingSince: undefined })
  const parts = [{ kind: 'reasoning' as const, reasoning: { text: 'Hm' } }, text('So.')]
  log.add('assistant_text_end', { ...message(parts), thinking_ms: 1200 })
  const live = apply(emptyView, log.events)
  expect(live.entries[1]).toMatchObject({ thinkingMs: 1200, streaming: false })
  // With the same key it stays unfolded when older pages are read.
  expect(apply(emptyView, log.durable).entries[1]!.key).toBe(live.entries[1]!.key)
})

test('the end of a turn counts the files that its edits changed', () => {
  const log = sampleTurn()
  const call = { tool: 'Edit', output: '', duration_ms: 1 }
  const change = (path: string) => ({ changes: [{ path, added: 1, removed: 0, diff: '' }] })
  log.add('user_input', { text: 'Edit' })
  const end = (id: string, outcome: 'done' | 'failed', path: string) =>
    log.add('tool_call_end', { ...call, call_id: id, outcome, details: change(path) })
  end('1', 'done', 'a')
  end('2', 'done', 'a')
  end('3', 'done', 'b')
  end('4', 'failed', 'c')
  log.add('processing_end', { reason: 'interrupted', rounds: 1, usage: noUsage })
  const ends = apply(emptyView, log.events).entries.filter((entry) => entry.type === 'turn')
  expect(ends).toMatchObject([{ changed: 0 }, { changed: 2 }])
})

// LOOP-49: the card of an agent shows its number of rounds.
test('rounds are counted from the start of the turn, and unknown if that was not read', () => {
  const log = new Log()
  const calls = message([{ kind: 'tool_call', call: { id: 'c', name: 'Read', arguments: '' } }])
  const begin = [log.add('user_input', { text: 'x' }), log.add('assistant_text_end', calls)]
  const rest = [log.add('assistant_text_end', calls), log.add('assistant_text_end', message([]))]
  const end = log.add('processing_end', { reason: 'done', rounds: 2, usage: noUsage })
  expect(apply(emptyView, [...begin, ...rest]).rounds).toBe(2)
  expect(apply(emptyView, rest).rounds).toBeUndefined()
  expect(apply(emptyView, [...rest, end]).rounds).toBe(2)
})

// OAS-102
test('a suggestion is valid until the next input', () => {
  const log = sampleTurn()
  log.add('side_request', { ...message([]), purpose: 'suggestion', cost: 1 })
  const { seq } = log.add('prompt_suggestion', { text: 'Test it' })
  log.add('session_end', { state: 'idle' })
  const view = apply(emptyView, log.events)
  expect(view.suggestion).toEqual({ text: 'Test it', seq })
  expect(view.entries.at(-1)?.type).toBe('turn')
  const next = log.add('user_input', { text: 'No' })
  expect(apply(view, [next]).suggestion).toBeUndefined()
})

// OAS-102: a model's suggestion must never be a command that one key press runs.
test.each(['!rm -rf .', ' \n!ls', '\u200b !ls', '\ufeff\u202e!ls', '!'])(
  'a command is not suggested: %j',
  (text) => {
    const log = sampleTurn()
    log.add('prompt_suggestion', { text })
    expect(apply(emptyView, log.events).suggestion).toBeUndefined()
  },
)

// OAS-102
describe('the user’s command', () => {
  const start = { id: 'l1', command: 'make' }
  function ran(): Log {
    const log = new Log()
    log.add('local_command_start', start)
    log.add('local_command_output_delta', { id: 'l1', text: 'one\n', offset: 0 })
    log.add('local_command_output_delta', { id: 'l1', text: 'two\n', offset: 4 })
    const end = { output: 'one\ntwo\n', outcome: 'done', duration_ms: 7 } as const
    log.add('local_command_end', { ...start, ...end, result: { exit_code: 2 } })
    return log
  }
  const commandOf = (view: View) => view.entries[0] as CommandEntry

  test('is one entry, live and stored, and makes the session busy', () => {
    const { events } = ran()
    const live = apply(emptyView, events.slice(0, 3))
    expect(live.state).toBe('processing')
    expect(isCommandRunning(live)).toBe(true)
    expect(commandOf(live)).toMatchObject({ status: 'running', output: 'one\ntwo\n' })
    const over = apply(live, events.slice(3))
    expect(over).toMatchObject({ state: 'idle', seq: 2 })
    expect(isCommandRunning(over)).toBe(false)
    const want = {
      command: 'make',
      status: 'done',
      durationMs: 7,
      result: { exit_code: 2 },
      seq: 2,
    }
    expect(commandOf(over)).toMatchObject(want)
    expect(apply(emptyView, ran().durable).entries).toEqual(over.entries)
    // A page of history may begin after its start.
    expect(commandOf(apply(emptyView, events.slice(3)))).toMatchObject(want)
  })

  test('continues from the draft if the page is opened meanwhile', () => {
    const { events } = ran()
    const live = apply(emptyView, events.slice(0, 2))
    const opened = applyDraft(apply(emptyView, events.slice(0, 1)), draftOf(live))
    expect(commandOf(apply(opened, events.slice(1, 3))).output).toBe('one\ntwo\n')
  })

  test('whose end could not be stored ends with the turn', () => {
    const view = apply(emptyView, [
      ...ran().events.slice(0, 2),
      new Log().add('processing_end', { reason: 'failed', rounds: 0, usage: noUsage }),
    ])
    expect(commandOf(view).status).toBe('interrupted')
  })

  test('does not prevent a stopped turn from being continued', () => {
    const log = new Log()
    log.add('user_input', { text: 'x' })
    log.add('processing_end', { reason: 'interrupted', rounds: 0, usage: noUsage })
    for (const event of ran().events.slice(0, 3)) log.events.push({ ...event, seq: undefined })
    expect(canContinue(apply(emptyView, log.events))).toBe(false)
    log.events.push({ ...ran().events[3]!, seq: undefined })
    expect(canContinue(apply(emptyView, log.events))).toBe(true)
  })
})

// Events that could not be stored have no seq, and these two have the same time.
test('keys of unsaved events differ', () => {
  const [error, end] = [
    new Log().add('error', { code: 'store', message: 'The disk is full.' }),
    new Log().add('processing_end', { reason: 'failed', rounds: 0, usage: noUsage }),
  ]
  const view = apply(emptyView, [
    { ...error, seq: undefined, at: 5 },
    { ...end, seq: undefined, at: 5 },
  ])
  const keys = view.entries.map((entry) => entry.key)
  expect(keys.length).toBeGreaterThan(1)
  expect(new Set(keys).size).toBe(keys.length)
})

test('a turn whose start was not read has no duration', () => {
  const end = new Log().add('processing_end', { reason: 'done', rounds: 0, usage: noUsage })
  const view = apply(emptyView, [{ ...end, at: 1_700_000_000_000 }])
  expect(view.entries.at(-1)).toMatchObject({ type: 'turn', durationMs: 0 })
})

// A turn lasts as long as it worked: nobody is charged for the time in which nobody was there.
describe('the duration of a turn', () => {
  type Step = readonly [at: number, 'ask' | 'answer' | 'end' | 'cut', id?: string]
  const lasts = (...steps: Step[]) => {
    const log = new Log()
    const events = [{ ...log.add('user_input', { text: 'Go' }), at: 1000 }]
    for (const [at, step, id = 'a'] of steps) {
      const event =
        step === 'ask'
          ? log.add('approval_request', request(id))
          : step === 'answer'
            ? log.add('approval_answer', {
                id,
                call_id: id,
                answer: { decision: 'allow' },
              } as never)
            : log.add('processing_end', {
                reason: step === 'cut' ? 'interrupted' : 'done',
                rounds: 1,
                usage: noUsage,
              })
      events.push({ ...event, at })
    }
    return events
  }
  const request = (id: string) => ({ id, call_id: id, tool: 'Bash', input: '{}' }) as never
  const cases: [string, number, Step[]][] = [
    ['without a question', 500, [[1500, 'end']]],
    [
      'with a question',
      300,
      [
        [1100, 'ask'],
        [9000, 'answer'],
        [9200, 'end'],
      ],
    ],
    [
      'with two questions at the same time',
      400,
      [
        [1100, 'ask'],
        [1200, 'ask', 'b'],
        [5000, 'answer'],
        [6000, 'answer', 'b'],
        [6300, 'end'],
      ],
    ],
    [
      'with two questions one after the other',
      300,
      [
        [1100, 'ask'],
        [2000, 'answer'],
        [2100, 'ask', 'b'],
        [7000, 'answer', 'b'],
        [7100, 'end'],
      ],
    ],
    [
      'that was stopped while it waited',
      100,
      [
        [1100, 'ask'],
        [60_000, 'cut'],
      ],
    ],
    [
      'that was stopped while one of two questions waited',
      100,
      [
        [1100, 'ask'],
        [1200, 'ask', 'b'],
        [5000, 'answer'],
        [9000, 'cut'],
      ],
    ],
  ]
  test.each(cases)('%s is %d ms, also if its beginning is read later', (_, ms, steps) => {
    const events = lasts(...steps)
    const whole = apply(emptyView, events)
    expect(whole.entries.at(-1)).toMatchObject({ type: 'turn', durationMs: ms })
    for (let cut = 1; cut < events.length; cut++) {
      const head = Head.of(events.slice(cut))
      const view = head.join(
        apply(emptyView, events.slice(0, cut)),
        apply(emptyView, events.slice(cut)),
      )
      expect(view.entries.at(-1), `cut at ${cut}`).toMatchObject({ durationMs: ms })
    }
  })
})

test.each([
  ['echo: No keys.', 'No keys.', true],
  ['<hook>No keys.</hook>', 'No keys.', true],
  ['No keys.', 'No keys.', true],
  ['Two hooks spoke.\nNo keys.\nNo tabs.', 'No tabs.', true],
  ['Something else.', 'No keys.', false],
  ['Anything', '', false],
])('the note %j joins the line of a hook that said %j: %s', (note, message, joins) => {
  const log = new Log()
  log.add('user_input', { text: 'Go' })
  log.add('hook_end', {
    ...{ point: 'userPromptSubmit', name: 'echo', duration_ms: 1, message },
    said: 'Hello.',
  } as const)
  log.add('steering_injected', { text: note, by_loop: true, queue_id: '' } as never)
  const notices = apply(emptyView, log.events).entries.slice(1)
  expect(notices).toHaveLength(joins ? 1 : 2)
  if (joins) expect(notices[0]).toMatchObject({ notice: 'hook', note })
})

test('the context after a rewind is that of the last answer that is left', () => {
  const log = new Log()
  const answer = (input: number, known = true) => {
    const { usage, ...rest } = message([text('Hi')])
    log.add('assistant_text_end', { ...rest, usage: { ...usage, input, known } })
  }
  log.add('user_input', { text: 'One' })
  answer(100)
  answer(200)
  answer(300, false)
  const { entries } = apply(emptyView, log.events)
  const of = (n: number) => heldIn(entries.slice(0, n))
  expect([of(0), of(1), of(2), of(3), of(4)]).toEqual([0, 0, 108, 208, 208])
})
