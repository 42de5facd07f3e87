import { afterEach, expect, test, vi } from 'vitest'
import { BrowserDesktop } from './desktop'

afterEach(() => {
  vi.unstubAllGlobals()
  Reflect.deleteProperty(document, 'execCommand')
})

/** A browser that copies by an event, and what it was given. */
function oldBrowser(isAllowed: boolean): string[] {
  const given: string[] = []
  const execCommand = (name: string) => {
    if (!isAllowed || name !== 'copy') return false
    const clipboardData = { setData: (type: string, text: string) => given.push(`${type} ${text}`) }
    document.dispatchEvent(Object.assign(new Event('copy'), { clipboardData }))
    return true
  }
  Object.assign(document, { execCommand })
  return given
}

test('a text goes to the clipboard', async () => {
  const writeText = vi.fn(async () => {})
  vi.stubGlobal('navigator', { clipboard: { writeText } })
  await new BrowserDesktop().copy('a')
  expect(writeText.mock.calls).toEqual([['a']])
})

test.each<[string, object]>([
  ['is missing', {}],
  ['refuses', { clipboard: { writeText: () => Promise.reject(new Error('denied')) } }],
])('if the clipboard %s, an event copies the text, or copying fails', async (_, navigator) => {
  vi.stubGlobal('navigator', navigator)
  const given = oldBrowser(true)
  await new BrowserDesktop().copy('a')
  expect(given).toEqual(['text/plain a'])
  oldBrowser(false)
  await expect(new BrowserDesktop().copy('a')).rejects.toThrow()
  // A later copy by the user is left alone.
  const later = Object.assign(new Event('copy', { cancelable: true }), { clipboardData: null })
  document.dispatchEvent(later)
  expect(later.defaultPrevented).toBe(false)
})
