import { expect, test, vi } from 'vitest'
import { emptyView } from '../model/entries'
import type { Workbench } from '../state/workbench.svelte'
import { localCommands } from './localCommands'

function commands(desktop: { quit?: () => void } = {}) {
  const press = vi.fn()
  const ask = vi.fn()
  const bench = { desktop, conversation: { id: 's', view: emptyView }, undo: { ask } }
  const all = localCommands({
    bench: bench as unknown as Workbench,
    press,
    show: vi.fn(),
    context: vi.fn(),
  })
  const run = (name: string) => all.find((command) => command.name === name)?.run()
  return { names: all.map(({ name }) => name), run, press, ask }
}

test('COM-97: /clear begins a new session, and /exit closes the window that there is', () => {
  const quit = vi.fn()
  const { run, press } = commands({ quit })
  run('clear')
  expect(press.mock.calls).toEqual([['new']])
  run('exit')
  expect(quit).toHaveBeenCalledOnce()
  expect(commands().names).not.toContain('exit')
})

test('/rewind leaves it to the host which turn is the newest if the page does not know', () => {
  const { run, ask } = commands()
  run('rewind')
  expect(ask.mock.calls).toEqual([[{ session: 's', target: { newest: true }, rewind: 0 }]])
})
