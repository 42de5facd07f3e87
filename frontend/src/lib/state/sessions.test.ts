import { expect, test } from 'vitest'
import type { Call } from '../api'
import { message, noUsage, text } from '../model/testing'
import type { Event, SessionInfo } from '../types.gen'
import { families, familyMark, Sessions } from './sessions.svelte'

const settings = { provider: 'demo', model: 'tour', mode: 'default' } as const

const session = (id: string, change: Partial<SessionInfo> = {}): SessionInfo => ({
  id,
  title: id,
  folder: '/shop',
  state: 'idle',
  settings,
  created_at: 1,
  updated_at: 1,
  seq: 0,
  usage: { ...noUsage, known: true },
  ...change,
  context: 0,
})
const agent = (id: string, parent: string, change: Partial<SessionInfo> = {}) =>
  session(id, { helper: { parent, folder: '/shop', rounds: 50 }, ...change })

// LOOP-49: an agent belongs to the session that started it.
test('agents stand under their session, oldest first; those of none stand alone', () => {
  const [a, b] = [session('a'), session('b')]
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
] as const)('%s is what a session %s with agents %o shows', (want, state, states) => {
  const agents = states.map((state, at) => agent(`${at}`, 'a', { state }))
  expect(familyMark(session('a', { state }), agents)).toBe(want)
})

/** The list over what the application would answer. */
function listOf(answers: SessionInfo[][]) {
  let reads = 0
  const call = async (method: string) =>
    method === 'sessions.list' ? { sessions: answers[Math.min(reads++, answers.length - 1)] } : {}
  return { list: new Sessions(call as unknown as Call), reads: () => reads }
}

const answer = (seq: number, cost: number): Event => ({
  session_id: 'a',
  seq,
  at: 5,
  kind: 'assistant_text_end',
  data: { ...message([text('x')]), cost },
})
const settled = () => new Promise((resolve) => setTimeout(resolve))

test('what a session cost grows with an answer that failed, if it was counted', async () => {
  const { list } = listOf([[session('a', { seq: 3, cost: { usd: 1 } })]])
  await list.load()
  const data = {
    provider: 'p',
    model: 'm',
    attempt: 1,
    of: 3,
    delay_ms: 0,
    code: 'server',
    message: 'x',
  }
  const usage = { ...noUsage, output: 2, known: true }
  const failed = (seq: number, more: object) =>
    ({ session_id: 'a', seq, at: 5, kind: 'retrying', data: { ...data, ...more } }) as Event
  list.receive({ session: 'a', seq: 5, events: [failed(4, {}), failed(5, { usage, cost: 0.5 })] })
  expect(list.find('a')).toMatchObject({ cost: { usd: 1.5, unknown: 0 }, usage: { output: 2 } })
})

test('what a session cost grows with each answer, and with each once', async () => {
  const { list, reads } = listOf([[session('a', { seq: 3, cost: { usd: 1 } })]])
  await list.load()
  list.receive({ session: 'a', seq: 3, events: [answer(3, 1)] })
  list.receive({ session: 'a', seq: 4, events: [answer(4, 0.5)] })
  expect(list.find('a')).toMatchObject({ seq: 4, cost: { usd: 1.5 }, usage: { output: 3 } })
  await list.load()
  expect(list.find('a')?.seq).toBe(4)
  expect(reads()).toBe(2)
})

test('an unknown session, or something left out, makes the list be read once', async () => {
  const { list, reads } = listOf([[session('a')], [session('a', { seq: 7 }), agent('b', 'a')]])
  await list.load()
  list.receive({ session: 'a', seq: 7, events: [] })
  list.receive({ session: 'b', seq: 1, events: [] })
  await settled()
  expect(reads()).toBe(2)
  expect(list.find('b')?.helper?.parent).toBe('a')
})

test('agents are removed with the session that started them', async () => {
  const { list } = listOf([[session('a'), agent('b', 'a'), session('c')]])
  await list.load()
  await list.remove('a')
  expect(list.list.map(({ id }) => id)).toEqual(['c'])
})
