import { fireEvent, screen, waitFor } from '@testing-library/svelte'
import { expect, test, vi } from 'vitest'
import type { Workbench } from '../state/workbench.svelte'
import type { Call } from '../api'
import { Worktrees as State } from '../state/worktrees.svelte'
import { renderInApp } from '../ui/testing'
import { own } from './messages'
import Worktrees from './Worktrees.svelte'

const free = { name: 'free', path: '.worktrees/free', branch: 'worktree-free', size: 2000 }
const full = {
  name: 'full',
  path: '.worktrees/full',
  branch: 'worktree-full',
  size: 5_000_000,
  session: 's',
  title: 'Mend it',
  why: 'uncommitted',
  files: 2,
  bytes: 30,
  examples: ['a.txt', 'b.txt'],
}

function shown() {
  const call = vi.fn(async (method: string, args: { name?: string }) =>
    method === 'worktrees.list'
      ? { worktrees: [free, full], limit: 64 }
      : { ...(args.name === 'full' ? full : free), removed: true },
  )
  renderInApp(Worktrees, {
    bench: { worktrees: new State(call as unknown as Call) } as unknown as Workbench,
  })
  return call
}

test('OAS-331: the worktrees are listed with who works there and what would be lost', async () => {
  shown()
  const rows = await screen.findAllByRole('listitem')
  expect(rows.map((row) => row.textContent?.replace(/\s+/g, ' '))).toEqual([
    expect.stringContaining(own('held_nothing')),
    expect.stringContaining(own('tree_of', { title: 'Mend it' })),
  ])
  expect(rows[1]!.textContent).toContain(own('held_uncommitted'))
  expect(rows[1]!.textContent).toContain('a.txt')
})

test.each([
  ['free', false, own('tree_remove_free')],
  ['full', true, own('tree_remove_body')],
] as const)('%s is removed only after the user was told what goes', async (name, all, says) => {
  const call = shown()
  await fireEvent.click(await screen.findByRole('button', { name: own('tree_remove', { name }) }))
  expect(call).toHaveBeenCalledTimes(1) // nothing but the list
  await screen.findByText(own('tree_remove_title', { path: `.worktrees/${name}` }))
  expect(document.body.textContent).toContain(says)
  await fireEvent.click(screen.getByText(own('tree_remove_now')))
  await waitFor(() => expect(call).toHaveBeenCalledWith('worktrees.remove', { name, all }))
  await screen.findByText(own('tree_removed', { path: `.worktrees/${name}` }))
})
