import { expect, test, vi } from 'vitest'
import { emptyView } from '../model/entries'
import { readDraft } from '../state/drafts.svelte'
import type { Workbench } from '../state/workbench.svelte'
import { localCommands } from './localCommands'

function commands(desktop: { quit?: () => void } = {}) {
  const press = vi.fn()
  const ask = vi.fn()
  const [show, context, save, compact, fork] = [vi.fn(), vi.fn(), vi.fn(), vi.fn(), vi.fn()]
  const conversation = { id: 's', view: emptyView, compact }
  const bench = { desktop, conversation, undo: { ask }, branches: { ask: fork } }
  const all = localCommands({
    bench: bench as unknown as Workbench,
    press,
    show,
    context,
    save,
  })
  const run = (name: string, rest = '') =>
    all.find((it) => it.name === name || it.aliases?.includes(name))?.run(rest)
  const names = all.map(({ name }) => name)
  return { all, names, run, press, ask, show, context, save, compact, fork }
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

test('COM-97: /help, /session and /usage show what they name', () => {
  const { run, press, show } = commands()
  run('help')
  run('session')
  run('sessions')
  run('usage')
  expect(press.mock.calls).toEqual([['help'], ['filter'], ['filter']])
  expect(show.mock.calls).toEqual([['cost']])
})

test('what people type from other programs does what they expect', () => {
  const { run, press, show, context, save, compact, fork } = commands()
  for (const name of ['resume', 'continue', 'reset', 'models', 'config', 'login', 'search'])
    run(name)
  expect(press.mock.calls.flat()).toEqual([
    ...['filter', 'filter', 'new', 'model', 'settings', 'settings', 'search'],
  ])
  for (const name of ['cost', 'permissions', 'allowed-tools', 'mcp', 'diff', 'bashes']) run(name)
  expect(show.mock.calls.flat()).toEqual([
    ...['cost', 'permissions', 'permissions', 'mcp', 'changes', 'running'],
  ])
  run('compact')
  run('compact', 'the tests')
  expect([context.mock.calls, compact.mock.calls]).toEqual([[[]], [['the tests']]])
  run('export')
  run('fork')
  expect([save.mock.calls.length, fork.mock.calls]).toEqual([1, [[{ session: 's' }]]])
})

test('/init writes a prompt into the message field, and sends nothing', () => {
  const { run } = commands()
  expect(run('init')).toBe(false)
  expect(readDraft('s')).toContain('AGENTS.md')
})

test('no two commands have the same name or alias', () => {
  const words = commands({ quit: vi.fn() }).all.flatMap(({ name, aliases = [] }) => [
    name,
    ...aliases,
  ])
  expect(new Set(words).size).toBe(words.length)
})

test('/btw asks about the open conversation beside it', () => {
  const begin = vi.fn()
  const bench = { desktop: {}, conversation: { id: 's' }, aside: { begin } }
  const all = localCommands({ bench: bench as unknown as Workbench } as Parameters<
    typeof localCommands
  >[0])
  const btw = all.find(({ name }) => name === 'btw')
  btw?.run('how far?')
  expect(btw?.needsSession).toBe(true)
  expect(begin.mock.calls).toEqual([['s', 'how far?']])
})
