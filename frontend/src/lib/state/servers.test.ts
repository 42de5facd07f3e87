import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ApiError, type Call } from '../api'
import type { ServerQuestion, ServerRow, ServerState } from '../types.gen'
import { Servers } from './servers.svelte'

const row = (name: string, state: ServerState = 'connected'): ServerRow => ({
  ...{ name, state, draft: { name, transport: 'stdio', command: 'npx', options: {} } },
  ...{
    origin: { scope: 'user' as const },
    auth: {},
    peer: {},
    health: {},
    counts: { tools: 1, tokens: 9 },
  },
})

/** An application with servers, which says what it was asked. */
function hosted(...rows: ServerRow[]) {
  const host = {
    rows,
    waiting: [] as ServerQuestion[],
    asked: [] as string[],
    /** The id of why a server is not connected again. */
    refusal: undefined as string | undefined,
    opened: [] as string[],
  }
  const call = async (method: string, args: Record<string, unknown>) => {
    host.asked.push(method)
    const { name } = args
    if (method === 'mcp.list') return { servers: host.rows, waiting: host.waiting, tokens: 9 }
    if (method === 'mcp.show') {
      const server = host.rows.find((it) => it.name === name)
      if (!server) throw new ApiError({ message: 'There is no such server.' })
      return { server }
    }
    if (method === 'mcp.authorise') return { url: 'https://auth.example/x' }
    if (method === 'mcp.reconnect')
      throw new ApiError({ message: 'No.', id: host.refusal as never })
    host.asked.push(JSON.stringify(args))
    return {}
  }
  const servers = new Servers(call as unknown as Call, (url) => host.opened.push(url))
  return { servers, host }
}

const change = { session: '', events: [{ kind: 'servers_change' }] } as never

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('news is read from the connections again, never guessed', async () => {
  const { servers, host } = hosted(row('a', 'connecting'))
  await servers.load()
  host.rows = [row('a', 'failed')]
  expect(servers.find('a')?.state).toBe('connecting')
  servers.receive(change)
  await vi.waitFor(() => expect(servers.find('a')?.state).toBe('failed'))
})

test('the state is asked again and again only while somebody looks', async () => {
  const { servers, host } = hosted(row('a'))
  const stop = servers.watch()
  await vi.advanceTimersByTimeAsync(7000)
  expect(host.asked).toHaveLength(3)
  const seen = vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden')
  await vi.advanceTimersByTimeAsync(9000)
  expect(host.asked).toHaveLength(3)
  seen.mockRestore()
  stop()
  await vi.advanceTimersByTimeAsync(9000)
  expect(host.asked).toHaveLength(3)
})

test('a change that failed is reported, and the actual state is read again', async () => {
  const { servers, host } = hosted(row('a', 'failed'))
  expect(await servers.reconnect('a')).toBe(false)
  expect(servers.problem?.message).toBe('No.')
  expect(host.asked).toEqual(['mcp.reconnect', 'mcp.list'])
  host.rows = [{ ...row('a', 'failed'), problem: { id: 'server_slow' } as never }]
  host.refusal = 'server_slow'
  expect(await servers.reconnect('a')).toBe(false)
  expect(servers.problem).toBeNull()
})

test('a switch is thrown everywhere, or in the session that is followed', async () => {
  const { servers, host } = hosted(row('a'))
  servers.follow('s')
  await servers.switch('a', false)
  await servers.switch('a', true, { tool: 't', here: true })
  expect(
    host.asked.filter((it) => it.startsWith('{')).map((it) => JSON.parse(it) as unknown),
  ).toEqual([
    { server: 'a', on: false },
    { server: 'a', tool: 't', session: 's', on: true },
  ])
})

test('an authorisation is opened once it is asked for, and again while it is waited for', async () => {
  const { servers, host } = hosted(row('a', 'needs_auth'))
  await servers.load()
  expect(host.opened).toEqual([])
  await servers.authorise('a')
  expect(host.opened).toEqual(['https://auth.example/x'])
  servers.openAgain({ ...row('a', 'needs_auth'), auth: { url: 'https://auth.example/y' } })
  servers.openAgain(row('a'))
  expect(host.opened.slice(1)).toEqual(['https://auth.example/y'])
})

test('a server that is gone is left', async () => {
  const { servers, host } = hosted(row('a'), row('b'))
  await servers.show('a')
  expect(servers.shown?.server.name).toBe('a')
  host.rows = [row('b')]
  await servers.load()
  expect(servers.open).toBeUndefined()
})

test('servers and questions that need the user are counted', async () => {
  const changed = { ...row('d'), counts: { tools: 1, tokens: 1, changed: 1 } }
  const { servers, host } = hosted(row('a', 'needs_auth'), row('b', 'untrusted'), row('c'), changed)
  host.waiting = [{ id: 'q', server: 'c', session: 's', at: 1 }]
  await servers.load()
  expect(servers.needing).toBe(4)
})

test('an address is opened only by an answer that agrees to it', async () => {
  const { servers, host } = hosted(row('a'))
  const link = { message: 'Pay', url: 'https://pay.example/' }
  host.waiting = [{ id: 'q', server: 'a', session: 's', at: 1, link }]
  await servers.load()
  await servers.answer({ id: 'q', action: 'decline' })
  expect(host.opened).toEqual([])
  await servers.followLink(host.waiting[0]!)
  expect(host.opened).toEqual(['https://pay.example/'])
  expect(host.asked).toContain('{"id":"q","action":"accept"}')
})
