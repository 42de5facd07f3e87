import { expect, test } from 'vitest'
import type { ProviderInfo } from '../types.gen'
import { choices, standIns } from './choices'

const providers: ProviderInfo[] = [
  {
    id: 'acme',
    name: 'Acme',
    ready: true,
    models: [
      { id: 'old-1', name: 'Old One', shutdown: '2026-12-01' },
      { id: 'new-1', name: 'Anvil Large' },
      { id: 'new-2', name: 'Anvil Small' },
    ],
  },
  { id: 'other', name: 'Other', ready: false, vendor: true, models: [{ id: 'x', name: 'X' }] },
  {
    id: 'demo',
    name: 'Demo',
    ready: true,
    models: [{ id: 'tour', name: 'Tour', scripted: true }],
  },
  { id: 'gate', name: 'Gateway', ready: false },
  { id: 'here', name: 'Here', ready: false, local: true, models: [{ id: 'y', name: 'Y' }] },
]
const keys = (wanted: string) =>
  choices(providers, wanted).flatMap((g) => g.items.map((i) => i.key))

test('models that will be shut down come last, then vendors that are not set up, then the rest', () =>
  expect(keys('')).toEqual([
    'acme/new-1',
    'acme/new-2',
    'acme/old-1',
    'demo/tour',
    'other',
    'more',
  ]))

test.each([
  ['anvil', ['acme/new-1', 'acme/new-2', 'acme/?']],
  ['  small ANVIL ', ['acme/new-2']],
  ['o', ['acme/old-1', 'demo/tour', 'other', 'acme/?']],
  ['new-2', ['acme/new-2']],
  ['my-model', ['acme/?']],
  ['gateway', ['gate', 'acme/?']],
  ['here', ['acme/?']],
])('“%s” finds models by name and id, and is offered as an id if no model has it', (wanted, want) =>
  expect(keys(wanted)).toEqual(want),
)

test('a local server is listed if it is running', () => {
  const found = providers.map((p) => (p.local ? { ...p, ready: true } : p))
  const order = choices(found.toReversed(), '').map((group) => group.id)
  expect(order).toEqual(['here', 'demo', 'acme', 'other', 'more'])
})

test('a model that an endpoint lists twice is offered once', () => {
  const models = [
    { id: 'm', name: 'M' },
    { id: 'm', name: 'M' },
  ]
  const [group] = choices([{ id: 'gate', name: 'Gateway', ready: true, models }], '')
  expect(group!.items.map(({ key }) => key)).toEqual(['gate/m'])
})

test('a typed id keeps its case', () =>
  expect(choices(providers, ' My-Model ')[0]?.items[0]?.model).toBe('My-Model'))

test('fallback models are real models that are ready, or none', () => {
  const items = standIns(providers, '').flatMap((group) => group.items)
  expect(items.map((item) => item.key)).toEqual(['none', 'acme/new-1', 'acme/new-2', 'acme/old-1'])
  expect(items[0]).toMatchObject({ provider: '', model: '' })
})

// OC-10: what is recommended comes first, what will be shut down last.
test('OC-10: recommended models come first', () => {
  const models = [
    { id: 'a', name: 'A', recommended: true, shutdown: '2026-12-01' },
    { id: 'b', name: 'B' },
    { id: 'c', name: 'C', recommended: true },
  ]
  const groups = choices([{ id: 'acme', name: 'Acme', ready: true, models }], '')
  expect(groups[0]?.items.map((i) => i.model)).toEqual(['c', 'b', 'a'])
})
