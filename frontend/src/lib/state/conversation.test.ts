import { describe, expect, test } from 'vitest'
import { ApiError, type Call } from '../api'
import type { Draft, Envelope, Event, Methods, Settings } from '../types.gen'
import { Conversation } from './conversation.svelte'
import { historyOf, Log, sampleTurn } from '../model/testing'

const cost = { usd: 1.5, unknown: 2 }
const settings: Settings = { provider: 'demo', model: 'tour', mode: 'default' }

/** A fake application that serves a conversation from a log. */
function host(log: Log, draft: Draft = {}) {
  const calls: string[] = []
  const refused = new Set<string>()
  const answer = (method: keyof Methods, args: Record<string, number>): unknown => {
    const events = log.durable
    switch (method) {
      case 'conversation.open': {
        const seq = events.length
        const info = { id: 's', title: 'T', state: 'processing', settings, seq, context: 0, cost }
        const limit = args.limit ?? 200
        return { session: info, events: events.slice(-limit), more: seq > limit, draft }
      }
      case 'conversation.history': {
        return historyOf(log, args)
      }
      default:
        return {}
    }
  }
  const call = (async (method: keyof Methods, args: never) => {
    calls.push(method)
    if (refused.has(method)) throw new ApiError({ code: 'busy', message: 'Busy.' })
    return answer(method, args)
  }) as unknown as Call
  return { call, calls, refused }
}

const envelope = (...events: Event[]): Envelope => ({
  session: 's',
  seq: Math.max(0, ...events.map((e) => e.seq ?? 0)),
  events,
})
const settled = () => new Promise((resolve) => setTimeout(resolve))

describe('a conversation', () => {
  test('reads missing events when an envelope is ahead', async () => {
    const log = sampleTurn()
    const { call, calls } = host(log)
    const conversation = new Conversation('s', call)
    await conversation.open()
    log.add('user_input', { text: 'left out of its envelope' })
    const last = log.add('title', { text: 'Newer' })
    conversation.receive(envelope(last))
    await settled()
    expect(calls).toEqual(['conversation.open', 'conversation.history'])
    expect(conversation.view).toMatchObject({ seq: 9, title: 'Newer' })
    expect(conversation.view.entries.at(-1)).toMatchObject({ text: 'left out of its envelope' })
  })

  test('opens the session again when streamed text has a gap', async () => {
    const log = new Log()
    log.add('user_input', { text: 'x' })
    const { call, calls } = host(log, { text: 'Hello wor' })
    const conversation = new Conversation('s', call)
    await conversation.open()
    const delta = log.add('assistant_text_delta', { text: 'd!', offset: 12 })
    conversation.receive({ ...envelope(delta), seq: 1 })
    await settled()
    expect(calls).toEqual(['conversation.open', 'conversation.open'])
    expect(conversation.view.torn).toBe(false)
  })

  test('applies envelopes that arrive during a read after it', async () => {
    const log = sampleTurn()
    const { call } = host(log)
    const conversation = new Conversation('s', call)
    const opened = conversation.open()
    const title = { session_id: 's', seq: 8, at: 1, kind: 'title', data: { text: 'Late' } } as const
    conversation.receive(envelope(title))
    await opened
    expect(conversation.view.title).toBe('Late')
  })

  // OAS-102
  test('shows no suggestion that was dismissed, and none while a message is being sent', async () => {
    const log = sampleTurn()
    const first = log.add('prompt_suggestion', { text: 'Test it' })
    const { call } = host(log)
    const conversation = new Conversation('s', call)
    await conversation.open()
    expect(conversation.suggestion).toBe('Test it')
    conversation.putAwaySuggestion()
    conversation.receive(envelope(first))
    expect(conversation.suggestion).toBeUndefined()
    const again = new Conversation('s', call)
    await again.open()
    expect(again.suggestion).toBeUndefined()
    conversation.receive(envelope(log.add('prompt_suggestion', { text: 'Ship it' })))
    expect(conversation.suggestion).toBe('Ship it')
    const sent = conversation.send('No')
    expect(conversation.suggestion).toBeUndefined()
    await sent
  })

  test('shows chosen settings at once, and reverts them if they are rejected', async () => {
    const { call, refused } = host(sampleTurn())
    const conversation = new Conversation('s', call)
    await conversation.open()
    const chosen = conversation.configure({ ...settings, mode: 'plan' })
    expect(conversation.settings?.mode).toBe('plan')
    await chosen
    expect(conversation.settings?.mode).toBe('plan')
    refused.add('conversation.configure')
    await conversation.configure({ ...settings, mode: 'auto' })
    expect(conversation.settings?.mode).toBe('default')
    expect(conversation.problem?.code).toBe('busy')
  })

  // OAS-115
  test('shows a budget at once, and then what the log records', async () => {
    const log = sampleTurn()
    const { call } = host(log)
    const conversation = new Conversation('s', call)
    await conversation.open()
    await conversation.configure({ ...settings, budget: 5 })
    expect(conversation.settings?.budget).toBe(5)
    conversation.receive(envelope(log.add('settings', { settings: { ...settings, budget: 5 } })))
    conversation.receive(envelope(log.add('settings', { settings })))
    expect(conversation.settings?.budget).toBeUndefined()
  })

  // LLM-32: the report of a provider is not in the log, so it must survive reading the session again.
  test('keeps the allowance when the session is read again', async () => {
    const log = sampleTurn()
    const { call } = host(log)
    const conversation = new Conversation('s', call)
    await conversation.open()
    const report = { provider: 'acme', limit: { requests: { limit: 9, remaining: 8 } } }
    conversation.receive({ ...envelope(log.add('rate_limit', report)), seq: 7 })
    for (let i = 0; i < 250; i++) log.add('title', { text: `${i}` })
    await conversation.open()
    expect(conversation.view.allowance).toEqual(report)
  })

  test('loads the pictures of a call', async () => {
    const log = sampleTurn()
    const media = [{ mime: 'image/png', data: 'AAAA' }]
    const base = host(log).call
    const call = (async (method: keyof Methods, args: { seq?: number }) => {
      if (method !== 'conversation.event') return base(method, args as never)
      const event = log.durable.find(({ seq }) => seq === args.seq)!
      return { event: { ...event, data: { ...event.data, media } } }
    }) as unknown as Call
    const conversation = new Conversation('s', call)
    await conversation.open()
    expect(await conversation.pictures(6)).toEqual(media)
    expect(await conversation.pictures(1)).toEqual(media)
    expect(await conversation.pictures(2)).toEqual([])
    expect(await conversation.pictures(undefined)).toEqual([])
  })

  test('saves settings one at a time, and sends a message after them', async () => {
    const order: string[] = []
    const { call } = host(sampleTurn())
    const slow = (async (method: keyof Methods, args: { settings?: Settings }) => {
      if (method === 'conversation.open') return call(method, args as never)
      order.push(`${method} ${args.settings?.mode ?? ''}`)
      await settled()
      order.push('done')
    }) as unknown as Call
    const conversation = new Conversation('s', slow)
    await conversation.open()
    void conversation.configure({ ...settings, mode: 'bypassPermissions' })
    void conversation.configure({ ...settings, mode: 'default' })
    await conversation.send('x')
    expect(order.filter((step) => step !== 'done')).toEqual([
      'conversation.configure bypassPermissions',
      'conversation.configure default',
      'conversation.send ',
    ])
    expect(order[1]).toBe('done')
    expect(order[3]).toBe('done')
  })

  test('reports a message that is rejected', async () => {
    const { call, refused } = host(sampleTurn())
    refused.add('conversation.send')
    const conversation = new Conversation('s', call)
    await conversation.open()
    expect(await conversation.send('x')).toBe(false)
    expect(conversation.problem?.message).toBe('Busy.')
  })
})
