import { expect, test, vi } from 'vitest'
import type { Call } from '../api'
import type { Preferences, PreferencesChange } from '../types.gen'
import { KeptPreferences } from './preferences.svelte'

vi.mock('./theme', () => ({ setTheme: () => {}, setContrast: () => {} }))

/** A host that keeps the calls and answers them one by one. */
function start() {
  const calls: PreferencesChange[] = []
  const answers: (() => void)[] = []
  const elsewhere: Partial<Preferences> = {}
  const call = (method: string, args: PreferencesChange) => {
    if (method === 'preferences.get') return Promise.resolve({ new_session: {}, ...elsewhere })
    calls.push(structuredClone(args))
    // Another window has chosen an editor.
    return new Promise((resolve) => answers.push(() => resolve({ ...args.after, editor: 'code' })))
  }
  const kept = new KeptPreferences(call as unknown as Call, (work) => work())
  kept.take({ new_session: {}, layout: {} } as Preferences)
  return { kept, calls, elsewhere, answer: () => answers.shift()!() }
}

test('a change is sent at once, and what is stored by then is taken over', async () => {
  const { kept, calls, answer } = start()
  const changing = kept.change({ theme: 'dark' })
  expect(kept.value).toMatchObject({ theme: 'dark' })
  expect(calls).toMatchObject([{ before: {}, after: { theme: 'dark' } }])
  answer()
  await changing
  expect(kept.value).toMatchObject({ theme: 'dark', editor: 'code' })
})

test('changes during a call follow together, or when the page is left', async () => {
  const { kept, calls, answer } = start()
  const changing = [
    kept.change({ theme: 'dark' }),
    kept.change({ zoom: 110 }),
    kept.change({ zoom: 120 }),
  ]
  expect(calls).toHaveLength(1)
  answer()
  await expect.poll(() => calls.length).toBe(2)
  expect(calls[1]).toMatchObject({ before: { theme: 'dark' }, after: { theme: 'dark', zoom: 120 } })
  expect(calls[1]!.before.zoom).toBeUndefined()
  const last = kept.change({ language: 'en' })
  dispatchEvent(new Event('pagehide'))
  expect(calls[2]).toMatchObject({ before: { zoom: 120 }, after: { language: 'en' } })
  answer()
  answer()
  await Promise.all([...changing, last])
  expect(kept.value).toMatchObject({ theme: 'dark', zoom: 120, language: 'en' })
})

test('a page that comes to the front takes over what another has changed, but not its layout', async () => {
  const { kept, calls, elsewhere } = start()
  Object.assign(elsewhere, { theme: 'dark', layout: { panel: 'cost' } })
  dispatchEvent(new Event('focus'))
  await expect.poll(() => kept.value?.theme).toBe('dark')
  expect(kept.value?.layout).toEqual({})
  const taken = kept.value
  // Here the user is quicker than the answer.
  elsewhere.theme = 'light'
  dispatchEvent(new Event('focus'))
  void kept.change({ zoom: 110 })
  await Promise.resolve()
  await Promise.resolve()
  expect(kept.value).toEqual({ ...taken, zoom: 110 })
  expect(calls).toHaveLength(1)
})
