import { fireEvent, screen, waitFor } from '@testing-library/svelte'
import { expect, test, vi } from 'vitest'
import type { Call } from '../api'
import { Schedules } from '../state/schedules.svelte'
import type { Workbench } from '../state/workbench.svelte'
import { renderInApp } from '../ui/testing'
import { own } from './messages'
import SchedulesPanel from './SchedulesPanel.svelte'

const task = {
  id: 'task-1',
  session: 's',
  title: 'Builds',
  kind: 'recurring',
  name: 'build',
  schedule: '0 9 * * 1-5',
  prompt: 'Look at the build.',
  created: 1,
  next: 1_800_000_000_000,
}
const due = 1_790_000_000_000
const runs = [
  { task: 'task-1', name: 'build', session: 's', due: due + 1, outcome: 'done' },
  { task: 'task-1', name: 'build', session: 's', due, outcome: 'missed', more: 3 },
  { task: 'task-1', name: 'build', session: 's', due: due - 1, outcome: 'failed', why: 'no key' },
]

function shown(tasks: unknown[], times: unknown[]) {
  const call = vi.fn(async () => ({ tasks, runs: times, limit: 50 }))
  const open = vi.fn()
  renderInApp(SchedulesPanel, {
    bench: { schedules: new Schedules(call as unknown as Call), open } as unknown as Workbench,
  })
  return { call, open }
}

test('OAS-325: tasks are listed with what became of each time', async () => {
  const { open } = shown([task], runs)
  await screen.findByText(/0 9 \* \* 1-5/)
  const rows = screen.getAllByRole('listitem').map((row) => row.textContent)
  expect(rows).toHaveLength(4)
  expect(rows[1]).toContain(own('out_done'))
  expect(rows[2]).toContain(own('out_missed'))
  expect(rows[2]).toContain(own('and_more', { n: 3 }))
  expect(rows[3]).toContain('no key')
  await fireEvent.click(screen.getByText(own('in_session', { title: 'Builds' })))
  expect(open).toHaveBeenCalledWith('s')
})

test('a task is run, paused, and deleted after a question', async () => {
  const { call } = shown([task], [])
  const changed = (action: string) =>
    waitFor(() => expect(call).toHaveBeenCalledWith('schedules.change', { id: 'task-1', action }))
  await fireEvent.click(await screen.findByRole('button', { name: own('run', { name: 'build' }) }))
  await changed('run')
  await fireEvent.click(screen.getByRole('button', { name: own('pause', { name: 'build' }) }))
  await changed('pause')
  await fireEvent.click(screen.getByRole('button', { name: own('delete', { name: 'build' }) }))
  expect(call).not.toHaveBeenCalledWith('schedules.change', { id: 'task-1', action: 'delete' })
  await fireEvent.click(await screen.findByText(own('delete_now')))
  await changed('delete')
})

test('without tasks it says what they are for', async () => {
  shown([], [])
  await screen.findByText(own('empty'))
})
