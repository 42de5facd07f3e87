import { expect, test } from 'vitest'
import type { Call } from '../api'
import { noUsage } from '../model/testing'
import type { CostSummary } from '../types.gen'
import { Costs } from './costs.svelte'

const summary = (requests: number): CostSummary => ({
  total: { requests, usage: noUsage, cost: { usd: requests } },
})

test('a reply about the previous session is dropped', async () => {
  const answers: ((summary: CostSummary) => void)[] = []
  const call = (() => new Promise((resolve) => answers.push(resolve))) as unknown as Call
  const costs = new Costs(call)
  const first = costs.load('a')
  const second = costs.load('b')
  for (const at of [2, 3, 0, 1]) answers[at]?.(summary(at))
  await Promise.all([first, second])
  expect(costs.session?.total.requests).toBe(3)
  expect(costs.project?.total.requests).toBe(2)
})
