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

async function commandsWith(run: (rest: string) => unknown, report = vi.fn()) {
  const call = vi.fn(async () => ({ commands: offered }))
  const commands = new Commands(call as unknown as Call, report)
  commands.local = [
    { name: 'help', about: () => 'Helps', run },
    { name: 'usage', aliases: ['cost', 'review'], about: () => 'Counts', run },
    { name: 'greet', about: () => 'Yields', yields: true, run },
    { name: 'compact', about: () => 'Sums up', takes: true, needsSession: true, run },
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
    'compact ',
    'greet hub',
    'review y',
  ])
  expect(await commands.runLocal('/help ')).toBe(true)
  expect(await commands.runLocal('/cost')).toBe(true) // what others call it
  expect(run.mock.calls).toEqual([[''], ['']])
})

test('a text that is not a command of the page is not run', async () => {
  const run = vi.fn()
  const commands = await commandsWith(run)
  for (const text of [
    ' /help',
    '/helpful',
    'help',
    '/usr/help',
    '/review',
    '/greet',
    '/rv x',
    '/',
  ]) {
    expect(await commands.runLocal(text), text).toBeUndefined()
  }
  expect(run).not.toHaveBeenCalled()
})

test('text after a command that takes none, and a command without its session, are not lost', async () => {
  const [run, report] = [vi.fn(), vi.fn()]
  const commands = await commandsWith(run, report)
  for (const text of ['/help me', '/cost\nof all', '/compact', '/compact the tests']) {
    expect(await commands.runLocal(text), text).toBe(false)
  }
  expect(report.mock.calls.map(([{ message }]) => message)).toEqual([
    'Nothing may follow /help.',
    'Nothing may follow /cost.',
    'No session is open.',
    'No session is open.',
  ])
  commands.follow('s')
  expect(await commands.runLocal('/compact  keep the\ntests ')).toBe(true)
  expect(run.mock.calls).toEqual([['keep the\ntests']])
})

const slashTexts: [text: string, near?: string][] = [
  ['/nope'],
  ['/nope x'],
  ['/nope, please'],
  ['/tmp is full'],
  ['/проба'],
  ['/a:b'],
  ['/hlep', '/help'],
  ['/Usgae now', '/usage'],
  ['/compct the tests', '/compact'],
  ['/coost', '/cost'],
  ['/reveiw\nmain', '/review'],
]

test.each(slashTexts)(
  'the unknown command %j is not sent, and the nearest is named',
  async (text, near) => {
    const report = vi.fn()
    const commands = await commandsWith(() => true, report)
    expect(await commands.expand(text)).toBeUndefined()
    const [{ message, next }] = report.mock.calls[0]!
    expect(message).toMatch(near ? `Did you mean ${near}?` : /^There is no command \/[^ ]+\.$/)
    expect(next).toBe('To send it as text, put a space before the slash.')
  },
)

test.each([
  '/etc/hosts is wrong',
  '/usr/',
  '/* comment */',
  '// x',
  '/8 of them',
  '/',
  ' /nope',
  'a /nope',
  '/^a+$/',
])('the text %j is sent', async (text) => {
  const commands = await commandsWith(() => true)
  expect(await commands.expand(text)).toEqual({ text })
})

test("a server's text that begins like a command is sent as text", async () => {
  const call = vi.fn(async (method: string) =>
    method === 'commands.list' ? { commands: offered } : { text: '/nope x' },
  )
  const commands = new Commands(call as unknown as Call, () => {})
  await commands.load()
  expect(await commands.expand('/greet')).toEqual({ text: ' /nope x' })
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
