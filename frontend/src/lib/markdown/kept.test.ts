import { expect, test } from 'vitest'
import { Kept } from './kept'

const held = (kept: Kept, keys: string) =>
  [...keys].filter((key) => kept.get(key) !== undefined).join('')

test('the texts that were used last are kept, up to a number', () => {
  const kept = new Kept(2)
  kept.set('a', 'A')
  kept.set('b', '')
  expect(kept.get('a')).toBe('A')
  kept.set('c', 'C')
  expect(held(kept, 'abc')).toBe('ac')
})

test('and up to a number of characters, however few texts have them', () => {
  const kept = new Kept(100, 30)
  for (const key of 'abcd') kept.set(key, 'x'.repeat(9))
  expect(held(kept, 'abcd')).toBe('bcd')
  kept.set('b', 'x') // what it had before no longer counts
  kept.set('e', 'x'.repeat(7))
  expect(held(kept, 'bcde')).toBe('bcde')
  kept.set('f', 'x'.repeat(100))
  expect(held(kept, 'bcdef')).toBe('')
})
