import { expect, test } from 'vitest'
import type { CacheState, ContextInfo, ModelInfo } from '../types.gen'
import { breakPrice, switchPrice } from './cachePrice'

const now = 1_000_000
const info = (cache: Partial<CacheState> | undefined, used = 100_000) =>
  ({
    used,
    added: 20_000,
    ...(cache && { cache: { read: 100_000, write: 0, fresh: 20_000, ...cache } }),
  }) as ContextInfo
const dear = { warm: 0.05, cold: 0.3 }

// COM-94: what breaks the prompt cache is warned about with its price, while there is a cache to break.
test.each<[string, ContextInfo | undefined, number | undefined]>([
  ['no session', undefined, undefined],
  ['nothing answered yet', info(undefined), undefined],
  ['a cache of unknown life', info(dear), 0.25],
  ['a cache that lives', info({ ...dear, until: now + 1 }), 0.25],
  ['a cache that the provider forgot', info({ ...dear, until: now }), undefined],
  ['nothing cached', info({ ...dear, read: 0 }), undefined],
  ['no price known', info({}), undefined],
  ['a price of nothing', info({ warm: 0, cold: 0.001 }), undefined],
])('the price of a broken cache: %s', (_, context, price) => {
  const found = breakPrice(context, now)
  expect(found && Math.round(found * 100) / 100).toBe(price)
})

test('the price of another model', () => {
  const model = (input?: number, context_window = 400_000) =>
    ({
      id: 'other',
      context_window,
      ...(input !== undefined && { price: { input, output: 1 } }),
    }) as ModelInfo
  expect(switchPrice(info(dear), model(3), now)).toEqual({
    tokens: 120_000,
    cost: 0.36,
    warm: 0.05,
    large: false,
  })
  // A model whose price is not known, and one whose window the conversation does not fit.
  expect(switchPrice(info({}), model(), now)).toEqual({ tokens: 120_000, large: false })
  expect(switchPrice(info({ read: 0 }), model(3, 100_000), now)).toEqual({
    tokens: 120_000,
    large: true,
  })
  expect(switchPrice(info({ ...dear, until: now }), model(3), now)).toBe(undefined)
  expect(switchPrice(info(undefined), model(3), now)).toBe(undefined)
  expect(switchPrice(info(dear), undefined, now)?.tokens).toBe(120_000)
})
