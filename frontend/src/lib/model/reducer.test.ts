import { describe, expect, test } from 'vitest'
import type { Event } from '../types.gen'
import { isCompacting } from './compaction'
import { type CommandEntry, emptyView, type ToolEntry, type View } from './entries'
import { canContinue } from './turn'
import { Log, message, noUsage, sampleTurn, text, toolCall } from './testing'
import { isCommandRunning } from './localCommand'
import { apply, applyDraft, draftOf } from './reducer'

/** The entries without their keys, which tell streamed ones from read ones. */
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

  test('a page that is opened in the middle of a turn goes on from the draft', () => {
    const log = sampleTurn()
    for (let cut = 1; cut <= log.events.length; cut++) {
      const before = log.events.slice(0, cut)
      const live = apply(emptyView, before)
      const durable = apply(
        emptyView,
        before.filter((event) => event.seq !== undefined),
      )
      const opened = applyDraft(durable, draftOf(live))
      // A delta that the draft holds already may come again.
      const rest = log.events.slice(cut - 1).filter((event, i) => i > 0 || !event.seq)
      expect(shown(apply(opened, rest))).toEqual(shown(apply(emptyView, log.durable)))
    }
  })

  test('nothing that was given is changed', () => {
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

  test('a gap is told and nothing is put in its place', () => {
    const view = streaming(['ab', 0], ['ef', 4])
    expect(view.torn).toBe(true)
    expect(view.entries[1]).toMatchObject({ text: 'ab' })
  })

  test('a new start takes back what was not finished, also behind a warning', () => {
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
  test('one that is being written shows what it will do, until it is written', () => {
    const log = new Log()
    const draft = { call_id: 'c1', tool: 'ApplyPatch' }
    const changes = [{ path: 'a', added: 2, removed: 1, diff: '' }]
    log.add('tool_call_draft', { ...draft, bytes: 9 })
    log.add('tool_call_draft', { ...draft, bytes: 90, outline: { changes, earlier: 3 } })
    const view = apply(emptyView, log.events)
    expect(callOf(view)).toMatchObject({ draftBytes: 90, outline: { changes, earlier: 3 } })
    log.add('assistant_text_end', message([toolCall('c1', 'ApplyPatch')], 'tool_calls'))
    expect(callOf(apply(emptyView, log.events)).outline).toBeUndefined()
  })

  test('one that waits is pending until it is answered', () => {
    const { events } = sampleTurn()
    const asked = apply(emptyView, events.slice(0, 9))
    expect(asked.state).toBe('awaiting_input')
    expect(asked.pending.map((request) => request.id)).toEqual(['a1'])
    expect(callOf(asked).status).toBe('waiting')
    const answered = apply(asked, events.slice(9, 10))
    expect(answered).toMatchObject({ state: 'processing', pending: [] })
    expect(callOf(answered).status).toBe('running')
  })

  test('nothing runs or waits beyond the end of its turn', () => {
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

test('an answer that was cut short says why; an empty one leaves no trace', () => {
  const log = new Log()
  log.add('assistant_text_end', message([text('So')], 'length'))
  log.add('assistant_text_end', message([]))
  const view = apply(emptyView, log.events)
  expect(view.entries).toMatchObject([{ type: 'answer', text: 'So', finish: 'length' }])
})

test('the session adds up what its requests cost; its turn says what it took', () => {
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

test('what a provider charges for an answer that failed is counted', () => {
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
test('the newest report of the allowance holds', () => {
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

test('a repair is a notice of its own; one without a kind is of the first kind', () => {
  const log = new Log()
  log.add('history_repaired', { message: 'Sent again.' })
  log.add('history_repaired', { message: 'Sent otherwise.', repair: 'pictures' })
  expect(apply(emptyView, log.events).entries).toMatchObject([
    { notice: 'repair', repair: 'native', message: 'Sent again.' },
    { notice: 'repair', repair: 'pictures', message: 'Sent otherwise.' },
  ])
})

// COM-18, COM-93: a compaction is one notice from its beginning to its end, and says how full the
// context is after it.
test('a compaction tells how far it is and what it came to', () => {
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

test('a compaction that somebody asked for is work of its own', () => {
  const log = new Log()
  log.add('compaction_start', { trigger: 'manual', tokens: 9000 })
  expect(apply(emptyView, log.events).state).toBe('processing')
  const end = { tokens_before: 9000, tokens_after: 9000, duration_ms: 5 }
  log.add('compaction_end', { trigger: 'manual', outcome: 'interrupted', ...end })
  expect(apply(emptyView, log.events).state).toBe('idle')
  // A page of history may begin between the two.
  expect(apply(emptyView, log.events.slice(1)).entries).toHaveLength(1)
})

// COM-93: a notice that ran for ever would make every later turn look like a compaction.
test.each<[string, (log: Log) => unknown]>([
  [
    'the end of its turn',
    (log) => log.add('processing_end', { reason: 'failed', rounds: 0, usage: noUsage }),
  ],
  ['a newer prompt', (log) => log.add('user_input', { text: 'Go' })],
  ['a turn that is continued', (log) => log.add('turn_continued', {})],
])('a compaction whose end could not be stored is over with %s', (_, goOn) => {
  const log = new Log()
  log.add('compaction_start', { trigger: 'manual', tokens: 9000 })
  expect(isCompacting(apply(emptyView, log.events))).toBe(true)
  goOn(log)
  const view = apply({ ...emptyView, context: 9000 }, log.events)
  expect(view.entries[0]).toMatchObject({ notice: 'compaction', end: { outcome: 'interrupted' } })
  expect(view.context).toBe(9000)
  expect(isCompacting(view)).toBe(false)
})

test('a call keeps what it showed, and where that is whole', () => {
  const log = sampleTurn()
  const media = [{ mime: 'image/png', name: 'shot.png' }]
  const end = { call_id: 'c2', tool: 'Read', output: '', outcome: 'done' as const, duration_ms: 1 }
  const { seq } = log.add('tool_call_end', { ...end, media })
  expect(apply(emptyView, log.events).entries.at(-1)).toMatchObject({ media, seq })
})

// LOOP-14, LOOP-132: what steers comes in between and begins no turn.
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

// LOOP-15, LOOP-133: between an input and the one that follows it nothing rests.
test('a session goes on working where another input follows', () => {
  const end = (next: boolean) => {
    const log = new Log()
    log.add('user_input', { text: 'Go' })
    log.add('processing_end', { reason: 'done', rounds: 0, usage: noUsage, next })
    return apply(emptyView, log.events).state
  }
  expect([end(true), end(false)]).toEqual(['processing', 'idle'])
})

// K-06: a turn that was stopped can be carried on, but for a limit of the whole session.
test.each([
  ['done', undefined, false],
  ['failed', undefined, true],
  ['interrupted', undefined, true],
  ['limit', 'rounds', true],
  ['limit', 'turns', false],
] as const)('a turn that ended by %s (%s) can be carried on: %s', (reason, limit, can) => {
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

// OAS-118: hooks that had nothing to say stay out of the way.
test('what a hook had to say is a notice', () => {
  const log = new Log()
  const hook = { point: 'preToolUse', name: 'lint', duration_ms: 3 } as const
  log.add('hook_start', { point: 'preToolUse', name: 'lint' })
  log.add('hook_end', hook)
  log.add('hook_end', { ...hook, decision: 'deny', message: 'not on Fridays' })
  expect(apply(emptyView, log.events).entries).toMatchObject([
    { notice: 'hook', name: 'lint', decision: 'deny', message: 'not on Fridays' },
  ])
})

test('what the loop tells the agent is a quiet notice; on repetition it is one with the finding', () => {
  const log = new Log()
  log.add('steering_injected', { text: 'Go on.', by_loop: true })
  log.add('loop_detection', { cycle: 1, calls: 6 })
  log.add('steering_injected', { text: 'Try something else.', by_loop: true })
  expect(apply(emptyView, log.events).entries).toMatchObject([
    { notice: 'nudge', message: 'Go on.' },
    { notice: 'loop', calls: 6, message: 'Try something else.' },
  ])
})

test('thinking is timed while it is streamed, and by its message afterwards', () => {
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
  // What a person unfolded stays so when older pages are read.
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

// LOOP-49: how many rounds of its bound an agent has taken.
test('rounds are counted from the start of the turn, and unknown where it was not read', () => {
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
test('a suggestion holds until the next input', () => {
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

// OAS-102: what a model wrote is not one key from the shell.
test.each(['!rm -rf .', ' \n!ls', '\u200b !ls', '\ufeff\u202e!ls', '!'])(
  'a suggested command is none: %j',
  (text) => {
    const log = sampleTurn()
    log.add('prompt_suggestion', { text })
    expect(apply(emptyView, log.events).suggestion).toBeUndefined()
  },
)

// OAS-102
describe('a command of the user’s', () => {
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

  test('is one entry, live and read, and makes the session busy', () => {
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
    // A page of history may begin behind its start.
    expect(commandOf(apply(emptyView, events.slice(3)))).toMatchObject(want)
  })

  test('goes on from the draft where the page is opened meanwhile', () => {
    const { events } = ran()
    const live = apply(emptyView, events.slice(0, 2))
    const opened = applyDraft(apply(emptyView, events.slice(0, 1)), draftOf(live))
    expect(commandOf(apply(opened, events.slice(1, 3))).output).toBe('one\ntwo\n')
  })

  test('that could not be stored runs no more', () => {
    const view = apply(emptyView, [
      ...ran().events.slice(0, 2),
      new Log().add('processing_end', { reason: 'failed', rounds: 0, usage: noUsage }),
    ])
    expect(commandOf(view).status).toBe('interrupted')
  })

  test('does not keep a stopped turn from being continued', () => {
    const log = new Log()
    log.add('user_input', { text: 'x' })
    log.add('processing_end', { reason: 'interrupted', rounds: 0, usage: noUsage })
    for (const event of ran().events.slice(0, 3)) log.events.push({ ...event, seq: undefined })
    expect(canContinue(apply(emptyView, log.events))).toBe(false)
    log.events.push({ ...ran().events[3]!, seq: undefined })
    expect(canContinue(apply(emptyView, log.events))).toBe(true)
  })
})

// What could not be stored has no place in the log: its two events share one time.
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
