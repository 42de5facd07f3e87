import { beforeEach, expect, test } from 'vitest'
import { setLanguage } from '../i18n/i18n.svelte'
import type { ProviderInfo } from '../types.gen'
import { levelChoices, modelOf, refOf } from './levels'

const providers: ProviderInfo[] = [
  { id: 'acme', name: 'Acme', ready: true, models: [{ id: 'small', name: 'Small' }] },
  { id: 'other', name: 'Other', ready: false, models: [{ id: 'x', name: 'X' }] },
  { id: 'demo', name: 'Demo', ready: true, models: [{ id: 'tour', name: 'Tour' }] },
]
const labels = (wanted: string) =>
  levelChoices(providers, wanted).flatMap((group) => group.items.map((item) => item.label()))

beforeEach(() => setLanguage('en'))

// COM-51: a level names a model of a ready provider, or none.
test('automatic comes first, then the models of ready providers', () => {
  expect(labels('')).toEqual(['Automatic', 'Small'])
  expect(labels('sma')).toEqual(['Small', 'Use “sma”'])
})

// COM-51
test.each([
  ['', { provider: '', model: '' }],
  ['acme/small', { provider: 'acme', model: 'small' }],
  ['router/acme/small', { provider: 'router', model: 'acme/small' }],
])('“%s” is parsed and written back', (ref, model) => {
  expect(modelOf(ref)).toEqual(model)
  expect(refOf(model)).toBe(ref)
})
