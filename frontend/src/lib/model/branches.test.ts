import { expect, test } from 'vitest'
import type { SessionInfo } from '../types.gen'
import { treeOf } from './branches'

const session = (id: string, from?: string) =>
  ({ id, created_at: 1, origin: from ? { session: from, seq: 1 } : undefined }) as SessionInfo

test('a fork is below the session that it was forked from, and the oldest is first', () => {
  const list = [
    session('c', 'b'),
    session('d', 'a'),
    session('a'),
    session('b', 'a'),
    session('e', 'gone'),
  ]
  expect(treeOf(list).map(({ session: { id }, depth }) => [id, depth])).toEqual([
    ['a', 0],
    ['b', 1],
    ['c', 2],
    ['d', 1],
    ['e', 0],
  ])
})

test('sessions that name each other are listed once', () => {
  const circle = [session('a', 'b'), session('b', 'a'), session('c', 'c')]
  expect(treeOf(circle).map(({ session: { id } }) => id)).toEqual(['a', 'b', 'c'])
})
