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

test('the list is read once for an unknown session or missing events', async () => {
  const { list, reads } = listOf([
    [sessionInfo('a')],
    [sessionInfo('a', { seq: 7 }), agent('b', 'a')],
  ])
  await list.load()
  list.receive({ session: 'a', seq: 7, events: [] })
  list.receive({ session: 'b', seq: 1, events: [] })
  await settled()
  expect(reads()).toBe(2)
  expect(list.find('b')?.helper?.parent).toBe('a')
})

test('agents are removed with the session that started them', async () => {
  const { list } = listOf([[sessionInfo('a'), agent('b', 'a'), sessionInfo('c')]])
  await list.load()
  await list.remove('a')
  expect(list.list.map(({ id }) => id)).toEqual(['c'])
})
