import { beforeEach, expect, test } from 'vitest'
import type { Call } from '../api'
import type { ProviderInfo } from '../types.gen'
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

test('a local server is only used if the user chose it', async () => {
  await catalog.findLocal()
  expect(catalog.usable({ provider: '', model: '', mode: 'default' }).provider).toBe('demo')
  expect(catalog.demoOnly).toBe(true)
  running = []
  await catalog.findLocal()
  expect(catalog.usable({ provider: 'here', model: 'm', mode: 'default' }).provider).toBe('here')
})
