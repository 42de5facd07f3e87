import { fireEvent, render, screen } from '@testing-library/svelte'
import { expect, test, vi } from 'vitest'
import type { Workbench } from '../state/workbench.svelte'
import type { ServerAuth, ServerRow } from '../types.gen'
import Reason from './Reason.svelte'

const waiting = (auth: ServerAuth) =>
  ({ name: 'tickets', state: 'needs_auth', draft: { transport: 'http' }, auth }) as ServerRow

/** Shows a server that waits to be authorised, and tells what the application was asked. */
function shown(auth: ServerAuth) {
  const servers = { busy: false, forget: vi.fn(async () => true), openAgain: vi.fn() }
  render(Reason, { bench: { servers } as unknown as Workbench, row: waiting(auth) })
  return servers
}

test('a user who does not come back from the browser stops waiting', async () => {
  const servers = shown({ url: 'https://auth.example/x' })
  await fireEvent.click(screen.getByRole('button', { name: 'Stop waiting' }))
  expect(servers.forget.mock.calls).toEqual([['tickets']])
  expect(servers.openAgain).not.toHaveBeenCalled()
})

test.each<[string, ServerAuth]>([
  ['nobody is in the browser', {}],
  [
    'it would take away the authorisation that there is',
    { url: 'https://auth.example/x', kept: true },
  ],
])('there is nothing to stop when %s', (_, auth) => {
  shown(auth)
  expect(screen.queryByRole('button', { name: 'Stop waiting' })).toBeNull()
})
