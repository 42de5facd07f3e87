import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Status } from './api'
import { createTransport, SocketTransport } from './transport'

const token = 't'.repeat(43)
const secretKey = 'atelier.secret'

/** The server's ends of the WebSockets that the page opened, newest last. */
let sockets: FakeSocket[]

class FakeSocket {
  sent: unknown[] = []
  onopen!: () => void
  onmessage!: (message: { data: string }) => void
  onclose!: (event: { code: number }) => void

  constructor(readonly url: URL) {
    sockets.push(this)
  }
  send = (frame: string) => void this.sent.push(JSON.parse(frame))
  close = () => {}
  accept() {
    this.onopen()
    this.onmessage({ data: '{"signed_in":true}' })
  }
  refuse() {
    this.onopen()
    this.onclose({ code: 4401 })
  }
}

/** The server's reply to a token; undefined if the server is unreachable. */
let answer: Response | undefined
let asked: { url: string; body: unknown }[]
let statuses: Status[]
const left: string[] = []

/** Ends the listeners of a test's pages. */
let listening: AbortController

const lastSocket = () => sockets.at(-1)!
const lastStatus = () => statuses.at(-1)
const settled = () => vi.advanceTimersByTimeAsync(0)

async function openPage(): Promise<SocketTransport> {
  const page = new SocketTransport((url) => left.push(url))
  page.connect(
    () => {},
    (status) => statuses.push(status),
  )
  await settled()
  return page
}

const accepting = (secret = 'the secret') => Response.json({ secret })
const used = () => new Response('', { status: 401 })

beforeEach(() => {
  vi.useFakeTimers()
  listening = new AbortController()
  for (const target of [window, document]) {
    const add = target.addEventListener.bind(target) as EventTarget['addEventListener']
    const { signal } = listening
    vi.spyOn(target, 'addEventListener').mockImplementation(
      (name: string, act: EventListenerOrEventListenerObject) => add(name, act, { signal }),
    )
  }
  sockets = []
  asked = []
  statuses = []
  left.length = 0
  answer = used()
  localStorage.clear()
  history.replaceState(null, '', '/')
  vi.stubGlobal('WebSocket', FakeSocket)
  vi.stubGlobal('fetch', async (url: string, { body }: { body: string }) => {
    asked.push({ url, body: JSON.parse(body) })
    if (!answer) throw new TypeError('unreachable')
    return answer.clone()
  })
})
afterEach(() => {
  listening.abort()
  vi.restoreAllMocks()
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

describe('a page that is opened', () => {
  test('with a token exchanges it for the secret and sends that first', async () => {
    history.replaceState(null, '', `/#token=${token}`)
    answer = accepting()
    const page = await openPage()
    expect(asked).toEqual([{ url: '/session', body: { token } }])
    expect(location.href).not.toContain(token)
    expect(lastSocket().url.href).not.toContain('secret')

    const reply = page.call('project.info', {})
    expect(lastSocket().sent).toEqual([])
    lastSocket().accept()
    expect(lastSocket().sent).toEqual([
      { secret: 'the secret' },
      { id: 1, method: 'project.info', args: {} },
    ])
    lastSocket().onmessage({ data: '{"id":1,"ok":{"name":"shop"}}' })
    expect(await reply).toMatchObject({ name: 'shop' })
    expect(statuses).toEqual(['connecting', 'connected'])
    expect(localStorage.getItem(secretKey)).toBe('the secret')
  })

  test('again, or in a second tab, uses the stored secret', async () => {
    localStorage.setItem(secretKey, 'kept')
    history.replaceState(null, '', `/#token=${token}`)
    await openPage()
    lastSocket().accept()
    expect(lastSocket().sent).toEqual([{ secret: 'kept' }])
    expect(lastStatus()).toBe('connected')
    expect(location.hash).toBe('')
  })

  test('without a token and a secret is signed out and does not connect', async () => {
    const page = await openPage()
    expect([asked, sockets, lastStatus()]).toEqual([[], [], 'signed_out'])
    await expect(page.call('project.info', {})).rejects.toThrow('connection')
  })

  test('with a used link is signed out and says why', async () => {
    history.replaceState(null, '', `/#token=${token}`)
    await openPage()
    expect([sockets, lastStatus(), location.hash]).toEqual([[], 'link_used', ''])
  })

  test('while the host is unreachable keeps its token and tries again', async () => {
    history.replaceState(null, '', `/#token=${token}`)
    answer = undefined
    await openPage()
    expect(lastStatus()).toBe('reconnecting')
    answer = accepting()
    await vi.advanceTimersByTimeAsync(250)
    lastSocket().accept()
    expect(lastStatus()).toBe('connected')
  })
})

describe('a page that is connected', () => {
  async function connected() {
    localStorage.setItem(secretKey, 'kept')
    const page = await openPage()
    lastSocket().accept()
    return page
  }

  test('reconnects, and says so if that takes long', async () => {
    const page = await connected()
    const open = page.call('project.info', {})
    lastSocket().onclose({ code: 1006 })
    await expect(open).rejects.toThrow('connection')
    expect(lastStatus()).toBe('reconnecting')
    for (let i = 0; i < 8; i++) {
      await vi.advanceTimersByTimeAsync(5000)
      lastSocket().onclose({ code: 1006 })
    }
    expect(lastStatus()).toBe('unanswered')
    await vi.advanceTimersByTimeAsync(5000)
    lastSocket().accept()
    expect(lastStatus()).toBe('connected')
  })

  const dies = 'the connection dies without being closed'
  const ping = { method: 'ping' }

  test(`notices within 30 seconds that ${dies}, and connects again`, async () => {
    await connected()
    const dead = lastSocket()
    await vi.advanceTimersByTimeAsync(29_000)
    expect(dead.sent.slice(1)).toEqual([ping])
    expect([sockets.length, lastStatus()]).toEqual([2, 'reconnecting'])
    lastSocket().accept()
    expect(lastStatus()).toBe('connected')
    dead.onmessage({ data: '{"signed_in":true}' }) // too late
    dead.onclose({ code: 1006 })
    expect(lastStatus()).toBe('connected')
  })

  test.each([
    ['an answer', '{"pong":true}'],
    ['an event', '{"event":{}}'],
    ['a reply', '{"id":7,"ok":{}}'],
  ])('stays connected as long as %s arrives', async (_, data) => {
    await connected()
    for (let seconds = 0; seconds < 120; seconds += 15) {
      await vi.advanceTimersByTimeAsync(15_000)
      lastSocket().onmessage({ data })
    }
    expect([sockets.length, lastStatus()]).toEqual([1, 'connected'])
  })

  test.each([
    ['the user comes back', () => document.dispatchEvent(new Event('visibilitychange'))],
    ['the network comes back', () => window.dispatchEvent(new Event('online'))],
  ])('notices at once when %s', async (_, happen) => {
    await connected()
    happen()
    expect(lastSocket().sent.at(-1)).toEqual(ping)
    await vi.advanceTimersByTimeAsync(5_500)
    expect([sockets.length, lastStatus()]).toEqual([2, 'reconnecting'])
    for (let failures = 0; failures < 5; failures++) {
      lastSocket().onclose({ code: 1006 })
      const { length } = sockets
      happen() // and does not wait for the next attempt
      await settled()
      expect(sockets).toHaveLength(length + 1)
    }
  })

  test('gives up an attempt that nobody answers', async () => {
    await connected()
    lastSocket().onclose({ code: 1006 })
    await vi.advanceTimersByTimeAsync(250)
    expect(sockets).toHaveLength(2)
    await vi.advanceTimersByTimeAsync(11_000)
    expect(sockets).toHaveLength(3)
  })

  test(`delivers a message once, although ${dies}`, async () => {
    const page = await connected()
    const reply = page.call('conversation.send', { session: 's', text: 'hello' })
    const [, first] = lastSocket().sent as { id: number; key: string }[]
    expect(first).toMatchObject({ method: 'conversation.send', key: expect.any(String) })
    await vi.advanceTimersByTimeAsync(25_000)
    const meanwhile = page.call('queue.run', { session: 's' })
    lastSocket().accept()
    const [, again, other] = lastSocket().sent as { id: number; key: string }[]
    expect(again).toEqual(first)
    expect(other!.key).not.toBe(first!.key)
    lastSocket().onmessage({ data: `{"id":${first!.id},"ok":{}}` })
    lastSocket().onmessage({ data: `{"id":${other!.id},"ok":{}}` })
    expect(await Promise.all([reply, meanwhile])).toEqual([{}, {}])
  })

  test('says that a message may not have arrived once it gives up waiting', async () => {
    const page = await connected()
    const reply = page.call('conversation.send', { session: 's', text: 'hello' })
    const failed = expect(reply).rejects.toThrow('connection')
    for (let i = 0; i < 8; i++) {
      lastSocket().onclose({ code: 1006 })
      await vi.advanceTimersByTimeAsync(5000)
    }
    await failed
    lastSocket().accept()
    expect(lastSocket().sent).toEqual([{ secret: 'kept' }])
  })

  test('is signed out by a server that was restarted, and forgets the secret', async () => {
    await connected()
    lastSocket().onclose({ code: 1006 })
    await vi.advanceTimersByTimeAsync(250)
    lastSocket().refuse()
    expect(lastStatus()).toBe('restarted')
    expect(localStorage.getItem(secretKey)).toBeNull()
    const { length } = sockets
    await vi.advanceTimersByTimeAsync(60_000)
    expect(sockets).toHaveLength(length)
  })

  test('learns that the server was restarted, also if another tab forgot the secret first', async () => {
    localStorage.setItem(secretKey, 'the secret')
    await openPage()
    lastSocket().accept()
    lastSocket().onclose({ code: 1006 })
    localStorage.removeItem(secretKey)
    await vi.advanceTimersByTimeAsync(250)
    expect(sockets).toHaveLength(2)
    lastSocket().refuse()
    expect(lastStatus()).toBe('restarted')
  })
})

describe('a page that is signed out', () => {
  const printed = `http://localhost:3000/#token=${token}`

  test.each([printed, ` ${printed}\n`, token])('signs in with %j', async (text) => {
    const page = await openPage()
    answer = accepting()
    expect(await page.signIn(text)).toBe('accepted')
    lastSocket().accept()
    expect([lastSocket().sent, lastStatus()]).toEqual([[{ secret: 'the secret' }], 'connected'])
  })

  test.each([
    '',
    'atelier serve',
    'http://localhost:3000/',
    `https://localhost:3000/#token=${token}`,
    `http://evil.example/#token=${token}`,
    `http://127.0.0.1.evil.example/#token=${token}`,
    `http://localhost@evil.example/#token=${token}`,
    `javascript:alert(1)//#token=${token}`,
  ])('rejects %j, which is not a printed address', async (text) => {
    const page = await openPage()
    expect(await page.signIn(text)).toBe('invalid')
    expect([asked, left]).toEqual([[], []])
  })

  test('reports that an address was used', async () => {
    const page = await openPage()
    expect(await page.signIn(printed)).toBe('used')
  })

  test.each([used(), undefined])('navigates to an address of another origin', async (given) => {
    const page = await openPage()
    answer = given
    const elsewhere = `http://127.0.0.1:4180/#token=${token}`
    expect(await page.signIn(elsewhere)).toBe('accepted')
    expect(left).toEqual([elsewhere])
  })

  test('signs in when another tab does', async () => {
    await openPage()
    window.dispatchEvent(new StorageEvent('storage', { key: secretKey, newValue: 'new' }))
    await settled()
    lastSocket().accept()
    expect([lastSocket().sent, lastStatus()]).toEqual([[{ secret: 'new' }], 'connected'])
  })

  test('signs in when a new address is opened in its tab', async () => {
    await openPage()
    answer = accepting()
    history.replaceState(null, '', `/#token=${token}`)
    window.dispatchEvent(new HashChangeEvent('hashchange'))
    await settled()
    lastSocket().accept()
    expect(lastStatus()).toBe('connected')
  })
})

describe('a page in the desktop window', () => {
  const pageOver = (reply: object) => {
    const calls: [string, string][] = []
    const App = {
      Call: async (method: string, args: string) => {
        calls.push([method, args])
        return JSON.stringify(reply)
      },
    }
    const host = { go: { main: { App } }, runtime: { EventsOn: () => {} } }
    return { calls, page: createTransport(host as unknown as Window) }
  }

  test('gets the result of a call from the bridge', async () => {
    const { calls, page } = pageOver({ ok: { name: 'shop' } })
    expect(await page.call('project.info', {})).toEqual({ name: 'shop' })
    expect(calls).toEqual([['project.info', '{}']])
  })

  test('learns why a link was not opened', async () => {
    const { calls, page } = pageOver({ error: { code: 'invalid', message: 'No browser.' } })
    await expect(page.openLink('https://example.com')).rejects.toMatchObject({
      code: 'invalid',
      message: 'No browser.',
    })
    expect(calls).toEqual([['host.open_link', '{"url":"https://example.com"}']])
  })

  test('copies through the window, which may refuse', async () => {
    const copied: string[] = []
    const runtime = {
      EventsOn: () => {},
      ClipboardSetText: async (text: string) => copied.push(text) === 1,
    }
    const host = { go: { main: { App: {} } }, runtime }
    const { desktop } = createTransport(host as unknown as Window)
    await desktop.copy('go test ./...')
    expect(copied).toEqual(['go test ./...'])
    await expect(desktop.copy('again')).rejects.toThrow('refused')
  })

  test('closes the window', () => {
    const Quit = vi.fn()
    const host = { go: { main: { App: {} } }, runtime: { EventsOn: () => {}, Quit } }
    createTransport(host as unknown as Window).desktop.quit?.()
    expect(Quit).toHaveBeenCalledOnce()
  })
})
