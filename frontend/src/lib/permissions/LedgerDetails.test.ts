import { render, screen } from '@testing-library/svelte'
import { expect, test } from 'vitest'
import { ApiError } from '../api'
import type { Workbench } from '../state/workbench.svelte'
import type { LedgerRow } from '../types.gen'
import LedgerDetails from './LedgerDetails.svelte'

test('a call whose arguments cannot be read says why, and shows what is known', async () => {
  const row: LedgerRow = {
    place: { at: 1, session: 's', seq: 1 },
    tool: 'Bash',
    subject: 'ls -l',
    outcome: 'done',
    duration_ms: 1,
  }
  const problem = new ApiError({ code: 'x', message: 'It is gone.' })
  const onwhole = () => Promise.reject(problem)
  render(LedgerDetails, { bench: {} as Workbench, row, onwhole, onrule: () => {} })
  expect((await screen.findByRole('alert')).textContent).toContain('It is gone.')
  screen.getByText('ls -l')
})
