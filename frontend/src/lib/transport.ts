/**
 * How the page reaches its host: the window's bridge or the browser's
 * WebSocket. Nothing above api.ts can tell which of the two it is.
 */
import type { Envelope, Error as WireError } from './types.gen'

export type Reply = { ok: unknown } | { error: WireError }
export type Status = 'connecting' | 'connected' | 'reconnecting' | 'refused'

export interface Transport {
  call(method: string, args: unknown): Promise<Reply>
  /** Envelopes arrive in the order the host sent them, with gaps over a reconnect. */
  onEnvelope: (envelope: Envelope) => void
  onStatus: (status: Status) => void
  start(): void
  /** Shows a web address outside the application. The caller has checked that it is one. */
  openLink(url: string): Promise<Reply>
}

type Bridge = {
  go?: { main?: { App?: { Call(method: string, args: string): Promise<string> } } }
  runtime?: { EventsOn(name: string, callback: (envelope: Envelope) => void): void }
}

const lost: WireError = {
  code: 'internal',
  message: 'The connection to Atelier was lost before it answered.',
  kept: 'Everything shown as saved is saved.',
  next: 'Atelier reconnects by itself; then try again.',
}

export function createTransport(host: Window & Bridge = window): Transport {
  return host.go?.main?.App && host.runtime ? new WindowTransport(host) : new SocketTransport()
}

class WindowTransport implements Transport {
  onEnvelope: (envelope: Envelope) => void = () => {}
  onStatus: (status: Status) => void = () => {}

  constructor(private host: Bridge) {}

  start() {
    this.host.runtime!.EventsOn('atelier', (envelope) => this.onEnvelope(envelope))
    this.onStatus('connected')
  }

  async call(method: string, args: unknown): Promise<Reply> {
    return JSON.parse(await this.host.go!.main!.App!.Call(method, JSON.stringify(args))) as Reply
  }

  openLink = (url: string) => this.call('host.open_link', { url })
}

type Incoming = ({ id: number } & Reply) | { event: Envelope }

/** Exported for its test. */
export class SocketTransport implements Transport {
  onEnvelope: (envelope: Envelope) => void = () => {}
  onStatus: (status: Status) => void = () => {}

  #socket?: WebSocket
  #lastID = 0
  #pending = new Map<number, (reply: Reply) => void>()
  #unsent: string[] = []
  #attempt = 0

  constructor(private base: string = location.href) {}

  start() {
    this.onStatus('connecting')
    this.#connect()
  }

  call(method: string, args: unknown): Promise<Reply> {
    const id = ++this.#lastID
    const frame = JSON.stringify({ id, method, args })
    return new Promise((resolve) => {
      this.#pending.set(id, resolve)
      if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(frame)
      else if (this.#attempt === 0) this.#unsent.push(frame)
      else this.#settle(id, { error: lost })
    })
  }

  async openLink(url: string): Promise<Reply> {
    window.open(url, '_blank', 'noopener,noreferrer')
    return { ok: {} }
  }

  #connect() {
    const url = new URL('/ws', this.base)
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
    const socket = new WebSocket(url)
    this.#socket = socket
    socket.onopen = () => {
      this.#attempt = 0
      for (const frame of this.#unsent.splice(0)) socket.send(frame)
      this.onStatus('connected')
    }
    socket.onmessage = (message) => this.#receive(JSON.parse(message.data as string) as Incoming)
    socket.onclose = () => void this.#reconnect()
  }

  #receive(message: Incoming) {
    if ('event' in message) this.onEnvelope(message.event)
    else this.#settle(message.id, message)
  }

  #settle(id: number, reply: Reply) {
    this.#pending.get(id)?.(reply)
    this.#pending.delete(id)
  }

  /** A refused upgrade and a dead host look alike to a WebSocket: a request tells them apart. */
  async #reconnect() {
    this.#unsent = []
    for (const id of [...this.#pending.keys()]) this.#settle(id, { error: lost })
    if (await this.#isRefused()) {
      this.onStatus('refused')
      return
    }
    this.onStatus('reconnecting')
    const wait = Math.min(250 * 2 ** this.#attempt++, 5000)
    setTimeout(() => this.#connect(), wait)
  }

  async #isRefused(): Promise<boolean> {
    try {
      const answer = await fetch(new URL('/', this.base), { method: 'HEAD', cache: 'no-store' })
      return answer.status === 401 || answer.status === 403
    } catch {
      return false
    }
  }
}
