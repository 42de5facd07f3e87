import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Call } from '../api'
import type { Found, SearchRequest } from '../types.gen'
import { Search } from './search.svelte'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const hits = (...seqs: number[]) =>
  seqs.map((seq) => ({ seq, at: seq, kind: 'user_input', part: 'message', snippet: '' }) as const)
const session = (id: string, ...seqs: number[]) => ({
  session: id,
  title: id,
  folder: '/p',
  hits: hits(...seqs),
})

/** A search whose questions are answered by a function. */
function searchOf(answer: (asked: SearchRequest) => Found | Promise<Found>) {
  const asked: SearchRequest[] = []
  const call = (async (_method: string, args: SearchRequest) => {
    asked.push(args)
    return answer(args)
  }) as unknown as Call
  return { search: new Search(call), asked }
}

test('it searches once typing is over', async () => {
  const { search, asked } = searchOf(() => ({ sessions: [session('a', 1)], words: ['new'] }))
  search.type('n')
  await vi.advanceTimersByTimeAsync(60)
  search.type('new')
  await vi.advanceTimersByTimeAsync(119)
  expect(asked).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(asked.map(({ text }) => text)).toEqual(['new'])
  expect([search.hits, search.searching, search.answered]).toEqual([1, false, 'new'])
})

test('a stale answer is dropped', async () => {
  const answers: ((found: Found) => void)[] = []
  const { search } = searchOf(() => new Promise((resolve) => answers.push(resolve)))
  search.type('old')
  await vi.advanceTimersByTimeAsync(120)
  search.type('new')
  await vi.advanceTimersByTimeAsync(120)
  answers[1]!({ sessions: [session('new', 1)] })
  await vi.advanceTimersByTimeAsync(0)
  answers[0]!({ sessions: [session('old', 1)], next: '5' })
  await vi.advanceTimersByTimeAsync(0)
  expect(search.sessions.map((found) => found.session)).toEqual(['new'])
  expect([answers.length, search.searching]).toEqual([2, false])
})

test('it goes on until there are enough hits, then when it is asked to', async () => {
  const { search, asked } = searchOf(({ next }) => {
    const at = Number(next || 30)
    return {
      sessions: at > 26 ? [] : [session(`s${at}`, 1, 2, 3, 4, 5)],
      next: at > 1 ? String(at - 1) : '',
    }
  })
  await search.find()
  expect([search.hits, search.more, asked.at(-1)?.next]).toEqual([20, true, '23'])
  await search.further()
  expect([search.hits, asked.at(-1)?.next]).toEqual([25, '22'])
})

test('sessions that are behind are looked at again', async () => {
  let behind = 2
  const { search, asked } = searchOf(() => ({ behind: behind-- }))
  await search.find()
  expect(search.behind).toBe(2)
  await vi.advanceTimersByTimeAsync(2000)
  expect([search.behind, asked.length]).toEqual([0, 3])
  await vi.advanceTimersByTimeAsync(5000)
  expect(asked).toHaveLength(3)
})

test('a failure is shown, and the next answer replaces it', async () => {
  let fails = true
  const { search } = searchOf(() => {
    if (fails) throw new Error('no')
    return {}
  })
  await search.find()
  expect([search.problem !== undefined, search.searching]).toEqual([true, false])
  fails = false
  search.narrow(session('a'))
  await vi.advanceTimersByTimeAsync(0)
  expect(search.problem).toBeUndefined()
})
