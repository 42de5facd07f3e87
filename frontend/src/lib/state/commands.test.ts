import { expect, test, vi } from 'vitest'
import type { Call } from '../api'
import { Commands } from './commands.svelte'

const offered = [
  { name: 'help', source: 'hub' },
  { name: 'greet', source: 'hub' },
]

async function commandsWith(run: () => unknown) {
  const call = vi.fn(async () => ({ commands: offered }))
  const commands = new Commands(call as unknown as Call, () => {})
  commands.local = [{ name: 'help', about: () => 'Helps', run }]
  await commands.load()
  return commands
}

// COM-97
test("the page's own commands come first, hide others of their name, and are not sent", async () => {
  const run = vi.fn()
  const commands = await commandsWith(run)
  expect(commands.list.map(({ name, source }) => `${name} ${source}`)).toEqual([
    'help ',
    'greet hub',
  ])
  expect(await commands.runLocal(' /help ')).toBe(true)
  expect(run).toHaveBeenCalledOnce()
  expect(await commands.expand('/help me')).toBe('/help me')
})

test('a text that only begins like a command of the page is a message', async () => {
  const run = vi.fn()
  const commands = await commandsWith(run)
  for (const text of ['/help me', '/helpful', 'help', '/usr/help']) {
    expect(await commands.runLocal(text), text).toBeUndefined()
  }
  expect(run).not.toHaveBeenCalled()
})

test('a command that could not run stays in the field', async () => {
  const commands = await commandsWith(async () => false)
  expect(await commands.runLocal('/help')).toBe(false)
})
