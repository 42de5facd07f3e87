import { afterEach, expect, test, vi } from 'vitest'
import { remember } from './remember'

afterEach(() => vi.restoreAllMocks())

test('a full storage does not throw', () => {
  remember('k', 'v')
  expect(localStorage.getItem('k')).toBe('v')
  vi.spyOn(Storage.prototype, 'setItem').mockImplementation(() => {
    throw new DOMException('full', 'QuotaExceededError')
  })
  remember('k', 'w')
  expect(localStorage.getItem('k')).toBe('v')
  remember('k', '')
  expect(localStorage.getItem('k')).toBeNull()
})
