import { fireEvent, screen } from '@testing-library/svelte'
import { beforeEach, expect, test, vi } from 'vitest'
import { setLanguage } from '../i18n/i18n.svelte'
import { sessionInfo } from '../model/testing'
import type { Workbench } from '../state/workbench.svelte'
import { renderInApp } from '../ui/testing'
import DeletedStrip from './DeletedStrip.svelte'

beforeEach(() => setLanguage('en'))

test('an open session that is deleted can be restored there', async () => {
  const mark = vi.fn(async () => {})
  const attempt = (work: () => Promise<void>) => work()
  const bench = { attempt, sessions: { mark } } as unknown as Workbench
  renderInApp(DeletedStrip, { bench, session: { ...sessionInfo('s'), marks: { deleted: 1 } } })
  await fireEvent.click(screen.getByRole('button', { name: 'Restore' }))
  expect(mark.mock.calls).toEqual([['s', { deleted: false }]])
})

test('without a deleted session there is nothing to see', () => {
  renderInApp(DeletedStrip, { bench: {} as Workbench, session: sessionInfo('s') })
  expect(screen.queryByRole('status')).toBeNull()
})
