import { afterEach, expect, test, vi } from 'vitest'
import { recall, remember } from './remember'

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})

test('a text is stored until it is empty', () => {
  remember('k', 'v')
  expect(localStorage.getItem('k')).toBe('v')
  expect(recall('k')).toBe('v')
  remember('k', '')
  expect(localStorage.getItem('k')).toBeNull()
  expect(recall('k')).toBe('')
})

test('a text that does not fit into a full storage lasts as long as the page', () => {
  remember('k', 'v')
  vi.spyOn(Storage.prototype, 'setItem').mockImplementation(() => {
    throw new DOMException('full', 'QuotaExceededError')
  })
  remember('k', 'w')
  expect(localStorage.getItem('k')).toBe('v')
  expect(recall('k')).toBe('w')
  remember('k', '')
  expect(localStorage.getItem('k')).toBeNull()
  expect(recall('k')).toBe('')
})

test('a browser that blocks storage breaks nothing', () => {
  const blocked = new Proxy(localStorage, {
    get() {
      throw new DOMException('blocked', 'SecurityError')
    },
  })
  vi.stubGlobal('localStorage', blocked)
  expect(recall('blocked')).toBe('')
  remember('blocked', 'v')
  expect(recall('blocked')).toBe('v')
  remember('blocked', '')
  expect(recall('blocked')).toBe('')
})
