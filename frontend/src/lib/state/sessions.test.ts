import { expect, test } from 'vitest'
import type { Call } from '../api'
import { message, noUsage, sessionInfo, text } from '../model/testing'
import type { Event, SessionInfo } from '../types.gen'
import { Sessions } from './sessions.svelte'

const agent = (id: string, parent: string) =>
  sessionInfo(id, { helper: { parent, folder: '/shop', rounds: 50 } })

/** The list over a fake application that gives these replies. */
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

test('the cost of a session includes failed answers that were billed', async () => {
  const { list } = listOf([[sessionInfo('a', { seq: 3, cost: { usd: 1 } })]])
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

test('the cost of a session includes each answer once', async () => {
  const { list, reads } = listOf([[sessionInfo('a', { seq: 3, cost: { usd: 1 } })]])
  await list.load()
  list.receive({ session: 'a', seq: 3, events: [answer(3, 1)] })
  list.receive({ session: 'a', seq: 4, events: [answer(4, 0.5)] })
  expect(list.find('a')).toMatchObject({ seq: 4, cost: { usd: 1.5 }, usage: { output: 3 } })
  await list.load()
  expect(list.find('a')?.seq).toBe(4)
  expect(reads()).toBe(2)
})

test('a session that is unknown, or of which events are missing, is read once; an agent with its parent', async () => {
  const asked: string[] = []
  const all = { a: sessionInfo('a', { seq: 7 }), b: agent('b', 'a') }
  const call = async (method: string, { session }: { session: 'a' | 'b' }) => {
    if (method === 'sessions.list') return {}
    asked.push(session)
    return all[session]
  }
  const list = new Sessions(call as unknown as Call)
  await list.load()
  list.receive({ session: 'b', seq: 1, events: [] })
  list.receive({ session: 'b', seq: 1, events: [] })
  await settled()
  expect(asked).toEqual(['b', 'a'])
  expect(list.families).toEqual([{ session: all.a, agents: [all.b] }])
  list.receive({ session: 'a', seq: 9, events: [] })
  await settled()
  expect(asked).toEqual(['b', 'a', 'a'])
})

test('agents are removed with the session that started them, here or elsewhere', async () => {
  const { list } = listOf([[sessionInfo('a'), agent('b', 'a'), sessionInfo('c'), sessionInfo('d')]])
  await list.load()
  await list.remove('a')
  expect(list.list.map(({ id }) => id)).toEqual(['c', 'd'])
  const event: Event = { session_id: '', at: 1, kind: 'sessions_change', data: { removed: 'c' } }
  list.receive({ session: '', seq: 0, events: [event] })
  expect(list.list.map(({ id }) => id)).toEqual(['d'])
})

test('the list is read page by page, and what is gone from its beginning is removed', async () => {
  const at = (id: string, updated_at: number) => sessionInfo(id, { updated_at })
  const next = { updated_at: 8, id: 'b' }
  const pages = [
    { sessions: [at('a', 9), at('b', 8)], next },
    { sessions: [at('c', 7)] },
    { sessions: [at('b', 8)], next },
  ]
  const asked: unknown[] = []
  const call = async (_: string, { after }: { after?: unknown }) => (
    asked.push(after),
    pages.shift()
  )
  const list = new Sessions(call as unknown as Call)
  await list.load()
  expect(list.next).toEqual(next)
  await list.loadMore()
  expect(list.next).toBeUndefined()
  expect(list.list.map(({ id }) => id)).toEqual(['a', 'b', 'c'])
  await list.load()
  expect(list.list.map(({ id }) => id)).toEqual(['b', 'c'])
  expect(asked).toEqual([undefined, next, undefined])
})

test('only the newest filter says whether there is more', async () => {
  const answers = [{ next: { updated_at: 8, id: 'b' } }, {}]
  const waiting: (() => void)[] = []
  const call = () => new Promise((resolve) => waiting.push(() => resolve(answers.shift())))
  const list = new Sessions(call as unknown as Call)
  const [first, second] = [list.show({ text: 'x' }), list.show({ text: 'y' })]
  waiting[1]!()
  await second
  waiting[0]!()
  await first
  expect(list.next).toBeDefined() // what the second was answered first
})
