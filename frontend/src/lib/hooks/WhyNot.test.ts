import { render, screen, waitFor } from '@testing-library/svelte'
import { flushSync } from 'svelte'
import { expect, test, vi } from 'vitest'
import type { Call } from '../api'
import { HookLog } from '../state/hookLog.svelte'
import type { Workbench } from '../state/workbench.svelte'
import type { HookLogRow, HookRow } from '../types.gen'
import WhyNot from './WhyNot.svelte'

test('the reason why a hook does not run follows the log', async () => {
  let entries: Partial<HookLogRow>[] = []
  const call = vi.fn(() => Promise.resolve({ entries, more: false, kept: 0 }))
  const log = new HookLog(call as unknown as Call)
  const row = { id: 'h1', state: 'runs' } as HookRow
  render(WhyNot, { bench: { hooks: { log } } as unknown as Workbench, row, onentries: () => {} })
  await waitFor(() => expect(call).toHaveBeenCalledTimes(1))
  expect(screen.queryByRole('list')).toBeNull()
  entries = [{ id: 1, outcome: 'untrusted', effect: {} }]
  log.news++
  flushSync()
  expect(await screen.findByRole('listitem')).toBeTruthy()
})
