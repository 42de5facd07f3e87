import { expect, test } from 'vitest'
import type { SessionInfo } from '../types.gen'
import { families, familyMark, fold, inbox, neighbour, withQuestions, workOf } from './sessions'
import { Log, sessionInfo } from './testing'

const agent = (id: string, parent: string, change: Partial<SessionInfo> = {}) =>
  sessionInfo(id, { helper: { parent, folder: '/shop', rounds: 50 }, ...change })

// LOOP-49: an agent belongs to the session that started it.
test('agents are listed under their session, oldest first; those without one are listed on their own', () => {
  const [a, b] = [sessionInfo('a'), sessionInfo('b')]
  const [young, old] = [agent('y', 'a', { created_at: 9 }), agent('o', 'a')]
  const orphan = agent('x', 'gone')
  expect(families([young, a, orphan, old, b])).toEqual([
    { session: a, agents: [old, young] },
    { session: orphan, agents: [] },
    { session: b, agents: [] },
  ])
})

test.each([
  ['rest', 'idle', ['idle']],
  ['running', 'idle', ['processing', 'idle']],
  ['waiting', 'processing', ['processing', 'awaiting_input']],
  ['waiting', 'awaiting_input', ['processing']],
] as const)('the mark is %s if the session is %s and its agents are %o', (want, state, states) => {
  const agents = states.map((state, at) => agent(`${at}`, 'a', { state }))
  expect(familyMark(sessionInfo('a', { state }), agents)).toBe(want)
})

// A server's question in a call of an agent waits for the user, who finds it with the session that started the agent.
test('a question of a server marks the session in whose call it asks, and its parent', () => {
  const all = [
    sessionInfo('p', { state: 'processing' }),
    agent('a', 'p', { state: 'processing' }),
    sessionInfo('ended', { state: 'idle' }),
  ]
  const asked = withQuestions(all, [{ session: 'a' }, { session: 'ended' }])
  expect(asked.map(({ state }) => state)).toEqual(['processing', 'awaiting_input', 'idle'])
  const [family] = families(asked)
  expect(familyMark(family!.session, family!.agents)).toBe('waiting')
  expect(withQuestions(all, [])).toBe(all)
})

// Sessions that need the user come first, then those that run, then the rest by time.
test('the inbox has what waits, what runs, what is pinned, and then days and months', () => {
  const now = new Date(2026, 10, 22, 12).getTime() // a Sunday
  const day = (days: number) => now - days * 24 * 3600_000
  const sessions = [
    sessionInfo('new', { updated_at: now }),
    sessionInfo('works', { updated_at: day(0), state: 'processing' }),
    sessionInfo('last', { updated_at: day(1) }),
    sessionInfo('parent', { updated_at: day(3) }),
    agent('asks', 'parent', { state: 'awaiting_input' }),
    sessionInfo('weekly', { updated_at: day(4) }),
    sessionInfo('failed', { updated_at: day(20), last_end: 'failed' }),
    sessionInfo('old', { updated_at: day(40) }),
    sessionInfo('kept', { updated_at: day(90), marks: { pinned: true } }),
    sessionInfo('asking', {
      updated_at: day(90),
      marks: { pinned: true },
      state: 'awaiting_input',
    }),
  ]
  const named = inbox(families(sessions), now).map(({ name, families: rows }) => [
    name,
    rows.map(({ session }) => session.id),
  ])
  expect(named).toEqual([
    ['waiting', ['parent', 'asking']],
    ['running', ['works']],
    ['pinned', ['kept']],
    ['today', ['new']],
    ['yesterday', ['last']],
    ['week', ['weekly']],
    [new Date(2026, 10, 1).getTime(), ['failed']],
    [new Date(2026, 9, 1).getTime(), ['old']],
  ])
})

test('a session has the lines of its calls, except denied ones, and the branch that was told last', () => {
  const log = new Log()
  const told = { provider: 'p', model: 'm' }
  const end = { tool: 'Edit', output: '', duration_ms: 1 }
  const changes = [
    { path: 'a', added: 2, removed: 3, diff: '' },
    { path: 'b', added: 1, removed: 0, diff: '' },
  ]
  log.add('briefing', { ...told, profile: 'spec', system: '', told: { branch: 'main' } })
  log.add('tool_call_end', { ...end, call_id: '1', outcome: 'done', details: { changes } })
  log.add('tool_call_end', { ...end, call_id: '2', outcome: 'denied', details: { changes } })
  log.add('briefing_update', { ...told, text: '', told: { date: 'x' } })
  const session = log.events.reduce(fold, sessionInfo('a', { lines: { added: 10, removed: 0 } }))
  expect(session).toMatchObject({ lines: { added: 13, removed: 3 }, branch: 'main' })
  log.add('briefing_update', { ...told, text: '', told: { branch: 'fix' } })
  expect(log.events.reduce(fold, session).branch).toBe('fix')
})

test('a session has the last 16 places of what each tool keeps', () => {
  const log = new Log()
  const keep = (tool: string, line: string) => {
    const details = { kept: { state: {}, line } }
    log.add('tool_call_end', {
      call_id: '1',
      tool,
      output: '',
      outcome: 'done',
      duration_ms: 1,
      details,
    })
  }
  keep('ExitPlanMode', '')
  for (let at = 0; at < 40; at++) keep('TodoWrite', `t${at}`)
  const { kept = [] } = log.events.reduce(fold, sessionInfo('a'))
  expect(kept.map(({ tool, line }) => [tool, line])).toEqual([
    ['ExitPlanMode', ''],
    ...Array.from({ length: 16 }, (_, at) => ['TodoWrite', `t${at + 24}`]),
  ])
})

test('the work of a session includes that of its agents', () => {
  const session = sessionInfo('a', { branch: 'main', cost: { usd: 1, unknown: 0 } })
  const helper = agent('h', 'a', { lines: { added: 4, removed: 1 }, cost: { usd: 2, unknown: 1 } })
  expect(workOf(session, [helper])).toEqual({
    lines: { added: 4, removed: 1 },
    branch: 'main',
    cost: { usd: 3, unknown: 1 },
  })
  expect(workOf(sessionInfo('b'), [])).toEqual({})
})

test('a session whose process was killed is marked as failed until it goes on', () => {
  const cut = { state: 'processing', interrupted: true } as const
  const killed = sessionInfo('a', { ...cut, updated_at: 1 })
  expect(familyMark(killed, [])).toBe('failed')
  expect(familyMark(sessionInfo('b'), [agent('c', 'b', cut)])).toBe('rest')
  expect(familyMark(sessionInfo('b'), [agent('c', 'b', { state: 'processing' })])).toBe('running')
  const goesOn = new Log().add('user_input', { text: 'go on' })
  expect(familyMark(fold(killed, goesOn), [])).toBe('running')
})

test.each([
  ['a', 1, 'b'],
  ['b', 1, 'c'],
  ['b', -1, 'a'],
  ['a', -1, undefined],
  ['c', 1, undefined],
  ['agent', 1, 'c'],
  ['agent', -1, 'a'],
  [undefined, 1, 'a'],
  ['deleted', -1, 'a'],
] as const)('from %s by %d the list leads to %s', (current, by, want) => {
  const all = families([
    sessionInfo('a', { state: 'awaiting_input' }),
    sessionInfo('b'),
    agent('agent', 'b'),
    sessionInfo('c'),
  ])
  expect(neighbour(inbox(all, 0), current, by)).toBe(want)
})
