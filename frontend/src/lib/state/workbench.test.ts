import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Api, Call } from '../api'
import { sessionInfo } from '../model/testing'
import type { Envelope, Methods, Preferences, PreferencesChange, Settings } from '../types.gen'
import { readDraft, takeSent, writeDraft } from './drafts.svelte'
import { remember } from './remember'
import { Workbench } from './workbench.svelte'

/** A fake application with one model that records its calls. */
function hostOf(kept: Preferences) {
  const calls: [string, unknown][] = []
  const call = async (method: keyof Methods, args: unknown) => {
    calls.push([method, args])
    if (method === 'preferences.get') return kept
    if (method === 'preferences.change') return (kept = (args as PreferencesChange).after)
    if (method === 'sessions.create') return { id: 's', settings: kept.new_session }
    const models = [{ id: 'tour', name: 'Tour' }]
    if (method === 'models.list') return { providers: [{ id: 'demo', ready: true, models }] }
    return {}
  }
  return { api: { call: call as Call } as Api, calls, kept: () => kept }
}

vi.mock('./theme', () => ({ setTheme: () => {}, setContrast: () => {} }))

// OAS-115: the default budget also applies if another model has to be used.
test('the default budget is kept if the provider is not available', async () => {
  const settings = { provider: 'gone', model: 'm', mode: 'plan', budget: 2 } as const
  const { api, kept } = hostOf({ new_session: settings, layout: {} })
  const bench = new Workbench(api)
  await bench.load()
  expect(bench.settings).toMatchObject({ provider: 'demo', mode: 'plan', budget: 2 })
  await bench.configure({ ...bench.settings!, mode: 'auto' })
  expect(kept().new_session).toMatchObject({ mode: 'auto', budget: 2 })
})

// K-12
test('the mode that never asks applies to one session and is not saved as a preference', async () => {
  const settings = { provider: 'demo', model: 'tour', mode: 'plan' } as const
  const { api, calls, kept } = hostOf({ new_session: settings, layout: {} })
  const bench = new Workbench(api)
  await bench.load()
  await bench.configure({ ...bench.settings!, mode: 'bypassPermissions' })
  expect(bench.settings?.mode).toBe('bypassPermissions')
  expect(kept().new_session.mode).toBe('plan')

  await bench.send('Go')
  const about = calls
    .map(([method]) => method)
    .filter((method) => /create|configure|send/.test(method))
  expect(about).toEqual(['sessions.create', 'conversation.configure', 'conversation.send'])
  expect(calls.find(([method]) => method === 'conversation.configure')?.[1]).toMatchObject({
    settings: { mode: 'bypassPermissions' },
  })
  bench.compose()
  expect(bench.settings?.mode).toBe('plan')
})

test('the pickers have the settings of a new session before its conversation is read', async () => {
  const settings = { provider: 'demo', model: 'tour', mode: 'plan' } as const
  const { api } = hostOf({ new_session: settings, layout: {} })
  const bench = new Workbench(api)
  await bench.load()
  await bench.send('Go')
  expect(bench.conversation!.settings).toBeUndefined()
  expect(bench.settings).toEqual(settings)
})

/** A workbench in the folder /shop, whose sessions are created once `create` is called. */
function starting() {
  let create = () => {}
  const created = new Promise<void>((resolve) => (create = resolve))
  const calls: string[] = []
  let isTaken = true
  const call = async (method: keyof Methods) => {
    calls.push(method)
    if (method === 'project.info') return { folder: '/shop' }
    if (method === 'preferences.get') return { new_session: {}, layout: {} }
    if (method === 'models.list') return { providers: [] }
    if (method === 'sessions.create') {
      await created
      return { id: 'new', settings: {} }
    }
    if (method === 'conversation.send' && !isTaken) throw new Error('refused')
    return {}
  }
  const bench = new Workbench({ call: call as Call } as Api)
  return { bench, create, calls, refuse: () => (isTaken = false) }
}

/** A connected workbench, and a function that tells it that a session was removed. */
function connected() {
  vi.useFakeTimers()
  let deliver: (envelope: Envelope) => void = () => {}
  const { api } = hostOf({ new_session: {} as Settings, layout: {} })
  const bench = new Workbench({ ...api, connect: (listener) => (deliver = listener) } as Api)
  bench.start()
  const hear = (removed: string) => {
    const event = { kind: 'sessions_change', data: { removed } }
    deliver({ session: '', events: [event] } as unknown as Envelope)
    vi.advanceTimersByTime(1000)
  }
  return { bench, hear }
}
afterEach(() => vi.useRealTimers())

describe('what is typed while the first message creates its session', () => {
  beforeEach(() => {
    for (const owner of ['/shop', 'new']) writeDraft(owner, '')
  })

  test('stays in the field of that session', async () => {
    const { bench, create } = starting()
    await bench.load()
    writeDraft('/shop', 'Go')
    const sent = bench.send('Go')
    writeDraft('/shop', 'Go and more')
    create()
    expect(await sent).toBe(true)
    takeSent('/shop', 'Go')
    expect(bench.conversation?.id).toBe('new')
    expect([readDraft('/shop'), readDraft('new')]).toEqual(['', ' and more'])
  })

  test('stays there with a message that was not accepted', async () => {
    const { bench, create, refuse } = starting()
    await bench.load()
    refuse()
    writeDraft('/shop', 'Go and more')
    create()
    expect(await bench.send('Go')).toBe(false)
    expect([readDraft('/shop'), readDraft('new')]).toEqual(['', 'Go and more'])
  })
})

test('a deleted session leaves no draft and no comment', async () => {
  const { bench, create } = starting()
  await bench.load()
  create()
  await bench.send('Go')
  writeDraft('new', 'half a')
  remember('atelier.comments:new', '[]')
  await bench.remove('new')
  expect(readDraft('new')).toBe('')
  expect(localStorage.getItem('atelier.draft:new')).toBeNull()
  expect(localStorage.getItem('atelier.comments:new')).toBeNull()
})

test('a session that another page removes is left, with its agents, its drafts and its comments', async () => {
  const { bench, hear } = connected()
  await bench.load()
  bench.sessions.list = [
    sessionInfo('s'),
    sessionInfo('agent', { helper: { parent: 's', folder: '/shop', rounds: 1 } }),
    sessionInfo('other'),
  ]
  bench.open('agent')
  writeDraft('agent', 'half a')
  remember('atelier.comments:s', '[]')
  hear('other')
  expect(bench.conversation?.id).toBe('agent')
  hear('s')
  expect(bench.conversation).toBeNull()
  expect(readDraft('agent')).toBe('')
  expect(localStorage.getItem('atelier.comments:s')).toBeNull()
})

test('damaged preferences are reported', async () => {
  const settings = { provider: 'demo', model: 'tour', mode: 'default' } as const
  const { api } = hostOf({ new_session: settings, layout: {}, damaged: true })
  const bench = new Workbench(api)
  await bench.load()
  expect(bench.problem?.code).toBe('store_corrupt')
  expect(bench.fatal).toBeNull()
})

test('a session is read before what takes the program long', async () => {
  const { bench, calls } = starting()
  await bench.load()
  await vi.waitFor(() => expect(calls).toContain('costs.summary'))
  calls.length = 0
  bench.open('other')
  await Promise.resolve()
  const later = () => calls.filter((method) => /^(costs|changes)/.test(method))
  expect(calls).toContain('conversation.open')
  expect(later()).toEqual([])
  await vi.waitFor(() =>
    expect(later()).toEqual(['costs.summary', 'costs.summary', 'changes.list']),
  )
})
