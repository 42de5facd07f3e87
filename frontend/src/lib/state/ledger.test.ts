import { expect, test } from 'vitest'
import type { Call } from '../api'
import type { LedgerPage, LedgerRequest, LedgerRow } from '../types.gen'
import { Ledger } from './ledger.svelte'

const row = (seq: number): LedgerRow => ({
  place: { at: seq, session: 's', seq },
  tool: 'Bash',
  subject: `command ${seq}`,
  outcome: 'done',
  duration_ms: 1,
})

/** A ledger of an application that answers in turn, and what it was asked. */
function setUp(...pages: LedgerPage[]) {
  const asked: LedgerRequest[] = []
  const call = async (_: string, request: LedgerRequest) => {
    asked.push(request)
    return pages.shift() ?? {}
  }
  return { asked, ledger: new Ledger(call as unknown as Call) }
}
const settled = () => new Promise((resolve) => setTimeout(resolve))
const seqs = (ledger: Ledger) => ledger.rows.map(({ place }) => place.seq)

test('OAS-630: older calls follow, and a new end reads as many again', async () => {
  const next = { at: 4, session: 's', seq: 4 }
  const { asked, ledger } = setUp({ rows: [row(5), row(4)], next }, { rows: [row(3)] })
  ledger.follow('s')
  await settled()
  await ledger.older()
  expect(seqs(ledger)).toEqual([5, 4, 3])
  expect(asked.map(({ session, before }) => [session, before])).toEqual([
    ['s', undefined],
    ['s', next],
  ])
  ledger.receive({ session: 's', events: [{ kind: 'tool_call_end' }] } as never)
  expect(ledger.news).toBe(1)
})

test('an answer to an earlier filter is dropped', async () => {
  const waiting: ((page: LedgerPage) => void)[] = []
  const call = () => new Promise<LedgerPage>((resolve) => waiting.push(resolve))
  const ledger = new Ledger(call as unknown as Call)
  void ledger.load()
  ledger.choose({ tool: 'Read' })
  waiting[0]!({ rows: [row(1)] })
  await settled()
  expect(seqs(ledger)).toEqual([])
  waiting[1]!({ rows: [row(2)] })
  await settled()
  expect(seqs(ledger)).toEqual([2])
})

test('older calls leave no gap to a list that was read again meanwhile', async () => {
  const waiting: ((page: LedgerPage) => void)[] = []
  const call = () => new Promise<LedgerPage>((resolve) => waiting.push(resolve))
  const ledger = new Ledger(call as unknown as Call)
  const next = (seq: number) => ({ at: seq, session: 's', seq })
  void ledger.load()
  waiting[0]!({ rows: [row(5), row(4)], next: next(4) })
  await settled()
  void ledger.older()
  void ledger.load()
  waiting[2]!({ rows: [row(7), row(6)], next: next(6) })
  await settled()
  waiting[1]!({ rows: [row(3)] })
  await settled()
  expect(seqs(ledger)).toEqual([7, 6])
  expect(ledger.more).toBe(true)
})

test('the project has the calls of all sessions', async () => {
  const { asked, ledger } = setUp()
  ledger.follow('s')
  ledger.choose({ by: 'rule' }, true)
  await settled()
  expect(asked.at(-1)).toEqual({
    session: undefined,
    filter: { by: 'rule' },
    before: undefined,
    limit: 50,
  })
})
