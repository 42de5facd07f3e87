import { expect, test, vi } from 'vitest'
import type { Call } from '../api'
import type { Preferences } from '../types.gen'
import { KeptPreferences } from './preferences.svelte'

vi.mock('./theme', () => ({ setTheme: () => {}, setContrast: () => {} }))

/** Windows that share what is stored. */
function windowsOf(stored: Preferences) {
  const call = async (method: string, args: unknown) => {
    if (method === 'preferences.set') stored = args as Preferences
    return structuredClone(stored)
  }
  const begin = () => {
    const kept = new KeptPreferences(call as unknown as Call, (work) => work())
    kept.take(structuredClone(stored))
    return kept
  }
  return { begin, stored: () => stored }
}

test('a window changes only what its user chose there', async () => {
  const { begin, stored } = windowsOf({
    new_session: {},
    layout: { sidebar_width: 200 },
  } as Preferences)
  const [one, two] = [begin(), begin()]
  await one.change({ theme: 'dark', editor: 'code' })
  await one.change({ fonts: { code: { family: 'Hack' } } })
  await one.change({ layout: { ...one.value!.layout, density: 'compact' } })
  await two.change({ fonts: { ...two.value!.fonts, interface: { size: 16 } } })
  await two.change({ layout: { ...two.value!.layout, sidebar_width: 300 } })
  expect(stored()).toEqual({
    new_session: {},
    theme: 'dark',
    editor: 'code',
    fonts: { code: { family: 'Hack' }, interface: { size: 16 } },
    layout: { sidebar_width: 300, density: 'compact' },
  })
  expect(two.value).toEqual(stored())
  await one.change({ editor: undefined, fonts: {} })
  expect(stored().editor).toBeUndefined()
  expect(stored().fonts).toEqual({})
})

test('changes that follow each other fast are all kept', async () => {
  const { begin, stored } = windowsOf({ new_session: {}, layout: {} } as Preferences)
  const kept = begin()
  const changes = [
    kept.change({ theme: 'dark' }),
    kept.change({ zoom: 110 }),
    kept.change({ zoom: 120 }),
  ]
  await Promise.all(changes)
  expect(stored()).toMatchObject({ theme: 'dark', zoom: 120 })
  expect(kept.value).toEqual(stored())
})
