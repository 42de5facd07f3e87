/**
 * Connects the page to its host: through the bridge in the desktop window,
 * through a WebSocket in a browser. No other module knows which of them is used.
 */
import { type Api, ApiError, type Call, type SignedOut, type SignIn, type Status } from './api'
import { t } from './i18n/i18n.svelte'
import { BrowserDesktop, type Desktop } from './desktop'
import type { Problem } from './i18n/problems'
import { recall, remember } from './state/remember'
import type { Envelope, Methods } from './types.gen'

type Reply = { ok: unknown } | { error: Problem }

abstract class Transport implements Api {
  /** Envelopes arrive in the order in which the host sent them. Some may be missing after a reconnect. */
  protected onEnvelope: (envelope: Envelope) => void = () => {}
  protected onStatus: (status: Status) => void = () => {}

  protected abstract start(): void
  protected abstract ask(method: string, args: unknown): Promise<Reply>
  abstract readonly desktop: Desktop
  abstract openLink(url: string): Promise<void>
  abstract signIn(address: string): Promise<SignIn>

  call: Call = async (method, args) => {
    const reply = await this.ask(method, args)
    if ('error' in reply) throw new ApiError(reply.error)
    return reply.ok as Methods[typeof method]['reply']
  }

  connect(onEnvelope: (envelope: Envelope) => void, onStatus: (status: Status) => void) {
    this.onEnvelope = onEnvelope
    this.onStatus = onStatus
    this.start()
  }
}

type Bridge = {
  go?: { main?: { App?: { Call(method: string, args: string): Promise<string> } } }
  runtime?: {
    EventsOn<T>(name: string, callback: (value: T) => void): void
    WindowSetTitle(title: string): void
    ClipboardSetText(text: string): Promise<boolean>
    Quit(): void
  }
}

const lost = (): Problem => ({
  message: t('app.lost'),
  kept: t('app.failed_kept'),
  next: t('app.lost_next'),
})

export function createTransport(host: Window & Bridge = window): Api {
  return host.go?.main?.App && host.runtime ? new WindowTransport(host) : new SocketTransport()
}

class WindowTransport extends Transport {
  /** The window's program shows notices, because the engine refuses to. */
  readonly desktop: Desktop = {
    setTitle: (title) => this.host.runtime!.WindowSetTitle(title),
    zoom: (percent) => void this.call('host.zoom', { percent }).catch(() => {}),
    openPage: () => false, // every project has a window
    quit: () => this.host.runtime!.Quit(),
    pickFolder: async (title) => (await this.call('host.pick_folder', { title })).folder,
    consent: () => 'granted',
    ask: () => Promise.resolve('granted'),
    notify: (notice) => void this.call('host.notify', notice).catch(() => {}), // the page says the same
    onPress: (callback) => this.host.runtime!.EventsOn('atelier:pressed', callback),
    // WebKit takes a text from a page only right after a press, but a long text has to be read first.
    copy: async (text) => {
      const taken = await this.host.runtime!.ClipboardSetText(text)
      if (!taken) throw new Error('the desktop refused the text')
    },
  }

  constructor(private host: Bridge) {
    super()
  }

  protected start() {
    this.host.runtime!.EventsOn<Envelope>('atelier', (envelope) => this.onEnvelope(envelope))
    this.onStatus('connected')
  }

  protected async ask(method: string, args: unknown): Promise<Reply> {
    return JSON.parse(await this.host.go!.main!.App!.Call(method, JSON.stringify(args))) as Reply
  }

  async openLink(url: string) {
    await this.call('host.open_link', { url })
  }

  signIn() {
    return Promise.resolve<SignIn>('accepted')
  }
}

/** The key of the secret in local storage, which belongs to this origin (port included): no other server reads it. */
const secretKey = 'atelier.secret'
/** The code with which the server closes a WebSocket whose first message is not the secret. */
const closedAsSignedOut = 4401
/** A connection that says nothing for so long is asked whether it still works. */
const quiet = 10_000
/** How long the answer may take, and how long if the user has just come back to the page. */
const patience = 10_000
const shortPatience = 5_000
/** The calls that must not run twice. They are sent again after a reconnect, and the server knows them by their key. */
const once: ReadonlySet<string> = new Set<keyof Methods>([
  'changes.commit',
  'conversation.answer',
  'conversation.command',
  'conversation.compact',
  'conversation.continue',
  'conversation.send',
  'queue.add',
  'queue.run',
  'sessions.create',
  'sessions.fork',
  'undo.apply',
  'undo.resend',
  'undo.rewind',
])
/** After this many failed attempts (about ten seconds) the host has probably ended. */
const mostFailures = 6

type Incoming =
  ({ id: number } & Reply) | { event: Envelope } | { signed_in: true } | { pong: true }
type Pending = {
  settle: (reply: Reply) => void
  /** What is sent again after a reconnect; empty for a call that fails with the connection. */
  frame: string
}

/** Exported for its tests. */
export class SocketTransport extends Transport {
  readonly desktop = new BrowserDesktop()
  #status: Status = 'connecting'
  #socket?: WebSocket
  #secret?: string
  #lastID = 0
  #pending = new Map<number, Pending>()
  #unsent: string[] = []
  #failures = 0
  #timer?: ReturnType<typeof setTimeout>
  /** Fires if the socket is silent for too long. */
  #watch?: ReturnType<typeof setTimeout>

  constructor(private leave: (url: string) => void = (url) => location.assign(url)) {
    super()
  }

  protected start() {
    this.#set('connecting')
    window.addEventListener('hashchange', () => void this.#enter())
    window.addEventListener('storage', ({ key, newValue }) => {
      // Another tab signed in.
      if (key !== secretKey || !newValue || this.#status === 'connected') return
      this.#secret = newValue
      void this.#enter()
    })
    window.addEventListener('online', () => this.#wake())
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible') this.#wake()
    })
    void this.#enter()
  }

  protected ask(method: string, args: unknown): Promise<Reply> {
    const id = ++this.#lastID
    const isOnce = once.has(method)
    const key = isOnce ? crypto.randomUUID() : undefined
    const frame = JSON.stringify({ id, method, args, key })
    return new Promise((settle) => {
      this.#pending.set(id, { settle, frame: isOnce ? frame : '' })
      const isAwaited = this.#status === 'connecting' || (isOnce && this.#status === 'reconnecting')
      if (this.#status === 'connected') this.#socket!.send(frame)
      else if (isAwaited) this.#unsent.push(frame)
      else this.#settle(id, { error: lost() })
    })
  }

  async openLink(url: string) {
    window.open(url, '_blank', 'noopener,noreferrer')
  }

  async signIn(text: string): Promise<SignIn> {
    const link = readLink(text)
    if (!link) return 'invalid'
    // Over SSH the port of the printed address may differ from the port of this page.
    const outcome = await this.#exchange(link.token)
    if (outcome === 'accepted') this.#connect()
    else if (link.url && new URL(link.url).origin !== location.origin) this.leave(link.url)
    else return outcome
    return 'accepted'
  }

  /** Removes the token from the page's address, if there is one, signs in with it and connects. */
  async #enter() {
    let problem: SignedOut | undefined
    const token = tokenIn(location.hash)
    if (token) {
      const outcome = await this.#exchange(token)
      if (outcome === 'unanswered') return this.#retry()
      history.replaceState(null, '', location.pathname)
      if (outcome === 'used') problem = 'link_used'
    }
    if (this.#status !== 'connected') this.#connect(problem)
  }

  /** Exchanges a one-time token for the secret. */
  async #exchange(token: string): Promise<'accepted' | 'used' | 'unanswered'> {
    try {
      const answer = await fetch('/session', {
        method: 'POST',
        body: JSON.stringify({ token }),
        signal: AbortSignal.timeout(patience),
      })
      if (answer.status === 401) return 'used'
      this.#secret = ((await answer.json()) as { secret: string }).secret
    } catch {
      return 'unanswered'
    }
    // Without storage the page stays signed in until it is reloaded.
    remember(secretKey, this.#secret)
    return 'accepted'
  }

  /** Opens the WebSocket and sends the secret. Without a secret the page is signed out, with the given reason. */
  #connect(problem?: SignedOut) {
    clearTimeout(this.#timer)
    const secret = this.#secret ?? recall(secretKey)
    if (!secret) return this.#lose(problem ?? 'signed_out')
    this.#secret = secret // another tab may remove it from the storage before this one learns why
    const url = new URL('/ws', location.href)
    url.protocol = 'ws:'
    const socket = new WebSocket(url)
    this.#release()
    this.#socket = socket
    this.#expect(patience)
    socket.onopen = () => socket.send(JSON.stringify({ secret }))
    socket.onmessage = (message) => {
      if (socket === this.#socket) this.#receive(JSON.parse(message.data as string) as Incoming)
    }
    socket.onclose = ({ code }) => {
      if (socket !== this.#socket) return
      this.#release()
      if (code !== closedAsSignedOut) return this.#retry()
      this.#secret = undefined
      if (recall(secretKey) === secret) remember(secretKey, '')
      this.#connect(problem ?? 'restarted')
    }
  }

  #receive(message: Incoming) {
    clearTimeout(this.#watch)
    this.#watch = setTimeout(() => this.#ping(patience), quiet)
    if ('event' in message) return this.onEnvelope(message.event)
    if ('id' in message) return this.#settle(message.id, message)
    if ('pong' in message) return
    this.#failures = 0
    for (const frame of this.#unsent.splice(0)) this.#socket!.send(frame)
    this.#set('connected')
  }

  /** Asks the server for a sign of life. Nothing else shows that a connection died without being closed. */
  #ping(within: number) {
    if (!this.#socket) return // it was given up before a late timer came
    this.#socket.send('{"method":"ping"}')
    this.#expect(within)
  }

  /** Gives the socket up if nothing arrives in time. */
  #expect(within: number) {
    clearTimeout(this.#watch)
    this.#watch = setTimeout(() => {
      this.#release()
      this.#retry()
    }, within)
  }

  #release() {
    clearTimeout(this.#watch)
    const socket = this.#socket
    this.#socket = undefined // first, so that its end is none of the page's business
    socket?.close()
  }

  /** The user is back, or the network is: whether the connection still works is found out at once. */
  #wake() {
    if (this.#status === 'connected') return this.#ping(shortPatience)
    const isWaiting = this.#status === 'reconnecting' || this.#status === 'unanswered'
    if (!isWaiting || this.#socket) return // or an attempt is under way
    clearTimeout(this.#timer)
    void this.#enter()
  }

  #settle(id: number, reply: Reply) {
    this.#pending.get(id)?.settle(reply)
    this.#pending.delete(id)
  }

  #set(status: Status) {
    this.#status = status
    this.onStatus(status)
  }

  #retry() {
    clearTimeout(this.#timer)
    this.#lose(this.#failures < mostFailures ? 'reconnecting' : 'unanswered')
    const wait = Math.min(250 * 2 ** this.#failures++, 5000)
    this.#timer = setTimeout(() => void this.#enter(), wait)
  }

  #lose(status: Status) {
    this.#set(status)
    this.#unsent = []
    for (const [id, { frame }] of [...this.#pending]) {
      if (status === 'reconnecting' && frame) this.#unsent.push(frame)
      else this.#settle(id, { error: lost() })
    }
  }
}

/** Reads the token and the address from pasted text: a printed address, or only its token. */
function readLink(text: string): { token: string; url?: string } | undefined {
  const pasted = text.trim()
  if (/^[\w-]{43}$/.test(pasted)) return { token: pasted }
  try {
    const { protocol, hostname, hash, href } = new URL(pasted)
    const token = tokenIn(hash)
    const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
    if (token && protocol === 'http:' && isLoopback) return { token, url: href }
  } catch {
    // The text is not an address.
  }
  return undefined
}

const tokenIn = (hash: string) => /^#token=([\w-]+)$/.exec(hash)?.[1]
