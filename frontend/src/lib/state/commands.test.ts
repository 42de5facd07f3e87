import { waitFor } from '@testing-library/svelte'
import { expect, test, vi } from 'vitest'
import type { Call } from '../api'
import { Commands } from './commands.svelte'

const offered = [
  { name: 'help', source: 'hub' },
  { name: 'greet', source: 'hub' },
  { name: 'usage', kind: 'skill', source: 'x' },
  { name: 'review', kind: 'skill', source: 'y', aliases: ['rv'] },
  { name: 'greet', kind: 'skill', source: 'z' },
]

async function commandsWith(run: () => unknown) {
  const call = vi.fn(async () => ({ commands: offered }))
  const commands = new Commands(call as unknown as Call, () => {})
  commands.local = [
    { name: 'help', about: () => 'Helps', run },
    { name: 'usage', about: () => 'Counts', run },
  ]
  await commands.load()
  return commands
}

// COM-97
test("the page's own commands come first, hide others of their name, and are not sent", async () => {
  const run = vi.fn()
  const commands = await commandsWith(run)
  expect(commands.list.map(({ name, source }) => `${name} ${source}`)).toEqual([
    'help ',
    'usage ',
    'greet hub',
    'review y',
  ])
  expect(await commands.runLocal(' /help ')).toBe(true)
  expect(run).toHaveBeenCalledOnce()
  expect(await commands.expand('/help me')).toEqual({ text: '/help me' })
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

test('a skill is sent as it was typed, unless a command of the page has its name', async () => {
  const commands = await commandsWith(() => true)
  const text = '/rv main "a b"\nand more'
  expect(await commands.expand(text)).toEqual({
    text,
    command: { name: 'review', arguments: 'main "a b"\nand more' },
  })
  expect(commands.skill('/usage me')).toBeUndefined()
  expect([commands.hidesSkill('usage'), commands.hidesSkill('greet')]).toEqual([true, false])
})

test('commands are read again when skills change', async () => {
  const call = vi.fn(async () => ({ commands: offered }))
  const commands = new Commands(call as unknown as Call, () => {})
  commands.receive({ session: '', events: [{ kind: 'skills_change' }] } as never)
  await waitFor(() => expect(commands.list).not.toHaveLength(0))
  commands.receive({ session: '', events: [{ kind: 'servers_change' }] } as never)
  expect(call).toHaveBeenCalledOnce()
})

test('a text that begins like a command is not sent before the commands are known', async () => {
  let isDown = true
  const call = vi.fn(async () => {
    if (isDown) throw new Error('down')
    return { commands: offered }
  })
  const report = vi.fn()
  const commands = new Commands(call as unknown as Call, report)
  await commands.load()
  expect(await commands.expand('/etc/hosts is wrong')).toEqual({ text: '/etc/hosts is wrong' })
  expect(await commands.expand('/review main')).toBeUndefined()
  expect(report.mock.calls).toEqual([
    [expect.objectContaining({ kept: 'It was not sent and stays in the message field.' })],
  ])
  isDown = false
  const command = { name: 'review', arguments: 'main' }
  expect(await commands.expand('/review main')).toEqual({ text: '/review main', command })
  isDown = true
  await commands.load()
  expect(await commands.expand('/review main')).toBeUndefined()
})
