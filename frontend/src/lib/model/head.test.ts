import { expect, test } from 'vitest'
import { emptyView, type View } from './entries'
import { Head } from './head'
import { apply, applyDraft, draftOf } from './reducer'
import { Log, message, noUsage, text, toolCall } from './testing'
import type { Event, Outcome } from '../types.gen'

/** Numbers that look random and are the same each time. */
function randomOf(seed: number) {
  const next = () => (seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff) / 0x7fffffff
  return {
    below: (n: number) => Math.floor(next() * n),
    chance: (p: number) => next() < p,
    one: <T>(of: readonly T[]): T => of[Math.floor(next() * of.length)]!,
  }
}
type Random = ReturnType<typeof randomOf>

const outcomes: readonly Outcome[] = ['done', 'done', 'failed', 'denied', 'interrupted']

function callTool(log: Log, random: Random, id: string) {
  const tool = random.one(['Read', 'Bash', 'Edit', 'SpawnAgent'])
  log.add('tool_call_start', { call_id: id, tool, input: `{"n":"${id}"}` })
  if (random.chance(0.3)) {
    const asked = { id: `ask-${id}`, call_id: id, tool, input: '', reason: 'r', access: {} }
    log.add('approval_request', asked)
    log.add('approval_answer', { id: asked.id, call_id: id, answer: { decision: 'allow' } })
  }
  if (random.chance(0.5)) {
    log.add('tool_call_output_delta', { call_id: id, text: 'some output', offset: 0 })
  }
  const change = { path: `${random.below(3)}.ts`, added: 1, removed: 0, diff: '' }
  log.add('tool_call_end', {
    call_id: id,
    tool,
    output: `output of ${id}`,
    outcome: random.one(outcomes),
    duration_ms: 3,
    ...(tool === 'Edit' && { details: { changes: [change] } }),
    ...(tool === 'SpawnAgent' && { details: { agent: { session: id } } }),
  })
}

function addRound(log: Log, random: Random, name: string, calls: number) {
  if (random.chance(0.2)) log.add('warning', { code: 'retry', message: name })
  log.add('assistant_text_start', {})
  log.add('reasoning_delta', { text: 'Hm.', offset: 0 })
  log.add('assistant_text_delta', { text: `I say ${name}`, offset: 0 })
  const ids = Array.from({ length: calls }, (_, n) => `${name}.${n}`)
  for (const id of ids) log.add('tool_call_draft', { call_id: id, tool: 'Read', bytes: 3 })
  const parts = [text(`I say ${name}`), ...ids.map((id) => toolCall(id, 'Read'))]
  log.add('assistant_text_end', message(parts, calls > 0 ? 'tool_calls' : 'stop'))
  for (const id of ids) callTool(log, random, id)
  if (random.chance(0.2)) log.add('steering_injected', { text: `also ${name}` })
  if (random.chance(0.1)) {
    log.add('loop_detection', { calls: 3, cycle: 1 })
    log.add('steering_injected', { text: 'Stop it.', by_loop: true })
  }
  if (random.chance(0.1)) compact(log, random, 'auto')
}

function compact(log: Log, random: Random, trigger: 'auto' | 'manual') {
  log.add('compaction_start', { trigger, tokens: 9 })
  log.add('compaction_phase', {
    phase: 'summary_start',
    tokens_before: 9,
    tokens_after: 9,
    tool_blocks_dropped: 0,
  })
  if (random.chance(0.2)) return // its end could not be stored
  const counts = { tokens_before: 9, tokens_after: 3, duration_ms: 1 }
  log.add('compaction_end', { trigger, outcome: 'done', ...counts })
}

function addTurn(log: Log, random: Random, turn: number) {
  if (random.chance(0.2)) log.add('title', { text: `Title ${turn}` })
  if (random.chance(0.2)) compact(log, random, 'manual')
  if (random.chance(0.2)) {
    const id = `l${turn}`
    log.add('local_command_start', { id, command: 'ls' })
    log.add('local_command_output_delta', { id, text: 'a', offset: 0 })
    const result = { exit_code: 0 }
    log.add('local_command_end', {
      id,
      command: 'ls',
      output: 'a',
      outcome: 'done',
      duration_ms: 1,
      result,
    })
  }
  if (random.chance(0.9)) log.add('user_input', { text: `Prompt ${turn}` })
  else log.add('turn_continued', {})
  const rounds = random.below(random.chance(0.1) ? 30 : 4)
  for (let round = 0; round < rounds; round++) {
    addRound(log, random, `${turn}.${round}`, random.below(4))
  }
  if (random.chance(0.2)) log.add('error', { class: 'network', message: 'Lost.' } as never)
  const next = random.chance(0.1)
  log.add('processing_end', { reason: 'done', rounds, usage: noUsage, ...(next && { next }) })
}

/** What a page shows that opens the session when it had the first events, with the newest of them. */
function openedAt(events: readonly Event[], known: number): { view: View; head: Head } {
  const durable = events.filter(({ seq }) => seq)
  const newest = durable.slice(Math.max(0, durable.length - known))
  const draft = draftOf(apply(emptyView, events))
  return { view: applyDraft(apply(emptyView, newest), draft), head: Head.of(newest) }
}

const seeds = Array.from({ length: 300 }, (_, n) => n + 1)

test('a log that is folded page by page from its end has the entries of the whole log', () => {
  for (const seed of seeds) {
    const random = randomOf(seed * 7919)
    const log = new Log()
    for (let turn = 0; turn < 6; turn++) addTurn(log, random, turn)
    // The session is opened somewhere in the log, often in a turn, and followed to where it ends.
    const events = log.events.slice(0, 1 + random.below(log.events.length))
    let at = 1 + random.below(events.length)
    let { view, head } = openedAt(events.slice(0, at), 1 + random.below(20))
    let { view: whole } = openedAt(events.slice(0, at), Infinity)
    const durable = events.slice(0, at).filter(({ seq }) => seq)
    while (at < events.length || head.first > 1) {
      if (at < events.length && random.chance(0.5)) {
        const next = events.slice(at, (at += 1 + random.below(5)))
        view = apply(view, next)
        whole = apply(whole, next)
        head.add(next)
      } else {
        const before = durable.filter(({ seq }) => seq! < head.first)
        const page = before.slice(-1 - random.below(30))
        const entries = new Set(view.entries)
        const end = view.entries.findIndex(({ type }) => type === 'turn')
        view = head.join(apply(emptyView, page), view)
        head = Head.of(page, head)
        if (end < 0) continue
        const kept = view.entries.slice(view.entries.length - (entries.size - end - 1))
        expect(kept.every((entry) => entries.has(entry))).toBe(true)
      }
    }
    expect(view.entries, `seed ${seed}`).toEqual(whole.entries)
    expect(view.turnStartedAt, `seed ${seed}`).toBe(whole.turnStartedAt)
    expect(view.rounds, `seed ${seed}`).toBe(whole.rounds)
  }
})

test('a page costs what it and the turn after it cost, however much is known', () => {
  const log = new Log()
  for (let turn = 0; turn < 400; turn++) {
    log.add('user_input', { text: `Prompt ${turn}` })
    log.add('assistant_text_end', message([text(`Answer ${turn}`)]))
    log.add('processing_end', { reason: 'done', rounds: 0, usage: noUsage })
  }
  let folded = 0
  const counted = (event: Event): Event => {
    const { data } = event
    Object.defineProperty(event, 'data', {
      get: () => {
        folded++
        return data
      },
    })
    return event
  }
  const events = log.events.map(counted)
  let head = Head.of(events.slice(-30))
  let view = apply(emptyView, events.slice(-30))
  for (let from = events.length - 30; from > 0; from -= 30) {
    folded = 0
    const page = events.slice(from - 30, from)
    view = head.join(apply(emptyView, page), view)
    head = Head.of(page, head)
    expect(folded).toBeLessThan(150)
  }
  expect(view.entries).toHaveLength(1200)
})
