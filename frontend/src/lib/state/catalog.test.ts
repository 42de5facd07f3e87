import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { Call } from '../api'
import type { ConnectionTest, ProviderInfo } from '../types.gen'
import { Catalog } from './catalog.svelte'

const here: ProviderInfo = { id: 'here', name: 'Here', ready: false, local: true }
const demo: ProviderInfo = {
  id: 'demo',
  name: 'Demo',
  ready: true,
  models: [{ id: 'tour', name: 'Tour', scripted: true }],
}
const found: ProviderInfo = { ...here, ready: true, models: [{ id: 'm', name: 'M' }] }

let running: ProviderInfo[] | undefined
let catalog: Catalog

beforeEach(async () => {
  running = [found]
  const call = (method: string) => {
    if (method === 'models.list') return Promise.resolve({ providers: [here, demo] })
    if (method !== 'models.local') return Promise.resolve({})
    return running ? Promise.resolve({ providers: running }) : Promise.reject(new Error('gone'))
  }
  catalog = new Catalog(call as Call)
  await catalog.load()
})

test('a local server is listed once it was found, until it is gone', async () => {
  expect(catalog.model('here', 'm')).toBeUndefined()
  await catalog.findLocal()
  expect(catalog.model('here', 'm')?.name).toBe('M')
  running = undefined
  await catalog.findLocal()
  expect(catalog.model('here', 'm')).toBeUndefined()
})

test('a model that takes no pictures is named, one of which that is not known is not', async () => {
  const model = { provider: 'here', model: 'm', mode: 'default' } as const
  await catalog.findLocal()
  expect(catalog.blind(model)).toBe('')
  running = [{ ...found, models: [{ id: 'm', name: 'M', blind: true }] }]
  await catalog.findLocal()
  expect([catalog.blind(model), catalog.blind({ ...model, model: 'other' })]).toEqual(['M', ''])
})

test('a local server is only used if the user chose it', async () => {
  await catalog.findLocal()
  expect(catalog.usable({ provider: '', model: '', mode: 'default' }).provider).toBe('demo')
  expect(catalog.demoOnly).toBe(true)
  running = []
  await catalog.findLocal()
  expect(catalog.usable({ provider: 'here', model: 'm', mode: 'default' }).provider).toBe('here')
})

// A failed connection: every way to repair a provider clears what its last test found.
describe('the last test of a provider', () => {
  const wrong: ConnectionTest = {
    reachable: true,
    duration_ms: 7,
    problem: {
      id: 'provider_auth',
      code: 'auth',
      message: 'The provider does not accept the key.',
    },
  }
  const good: ConnectionTest = { reachable: true, duration_ms: 7, models: 3 }
  let answers: (() => Promise<unknown>)[]
  let catalog: Catalog
  beforeEach(() => {
    answers = []
    const replies: Record<string, () => unknown> = {
      'models.test': () => answers.shift()!(),
      'endpoints.set': () => ({ endpoints: [{ id: 'p', name: 'P', base_url: 'http://p' }] }),
    }
    catalog = new Catalog(((method: string) =>
      Promise.resolve(replies[method]?.() ?? {})) as unknown as Call)
  })
  const says = (test: ConnectionTest) => () => Promise.resolve(test)

  test.each([
    ['another key', () => catalog.setKey({ provider: 'p', key: 'right' })],
    ['another address', () => catalog.setKey({ provider: 'p', base_url: 'http://q' })],
    ['a changed endpoint', () => catalog.setEndpoint({ id: 'p', name: 'P', base_url: 'http://q' })],
    ['a new endpoint', () => catalog.setEndpoint({ name: 'P', base_url: 'http://q' })],
    ['another try', () => catalog.test('p')],
  ])('%s is tested, and a success replaces the failure', async (_, repair) => {
    answers = [says(wrong), says(good)]
    await catalog.test('p')
    expect(catalog.tested('p')?.problem?.id).toBe('provider_auth')
    await repair()
    await vi.waitFor(() =>
      expect(catalog.tested('p')).toEqual({ answer: good, problem: undefined }),
    )
  })

  test.each([
    ['key', () => catalog.removeKey('p')],
    ['endpoint', () => catalog.removeEndpoint('p')],
  ])('a removed %s leaves no result', async (_, remove) => {
    answers = [says(wrong)]
    await catalog.test('p')
    await remove()
    expect(catalog.tested('p')).toBeUndefined()
  })

  test('a test that ends late does not replace a later one', async () => {
    let end: (test: ConnectionTest) => void = () => {}
    answers = [() => new Promise<ConnectionTest>((resolve) => (end = resolve)), says(good)]
    const first = catalog.test('p')
    await catalog.test('p')
    end(wrong)
    await first
    expect(catalog.tested('p')?.answer).toEqual(good)
  })

  test('a call that fails is a problem of the provider, not of the page', async () => {
    answers = [() => Promise.reject(new Error('gone'))]
    await catalog.test('p')
    expect(catalog.tested('p')?.problem?.message).toBeTruthy()
  })
})
