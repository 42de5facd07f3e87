import { expect, test } from 'vitest'
import type { Call } from '../api'
import { HookLog } from './hookLog.svelte'

test('more new entries than a page has leave no gap in the log', async () => {
  let newest = 120
  const call = (async (_: string, args: { before?: number; limit?: number }) => {
    const { before = Infinity, limit = 200 } = args
    const last = Math.min(newest, before - 1)
    const ids = Array.from({ length: Math.min(limit, last) }, (_, i) => last - i)
    return { entries: ids.map((id) => ({ id })), more: last > limit, kept: 1000 }
  }) as unknown as Call
  const log = new HookLog(call)
  await log.load()
  newest += 300
  await log.load()
  while (log.more) await log.older()
  expect(log.rows.map(({ id }) => id)).toEqual(Array.from({ length: 420 }, (_, i) => 420 - i))
})
