import { expect, test, vi } from 'vitest'
import type { Call } from '../api'
import type { Methods, Preferences } from '../types.gen'
import { Workbench } from './workbench.svelte'

vi.mock('./theme', () => ({ setTheme: () => {} }))

// OAS-115: a session that begins with another model begins with the budget all the same.
test('the default budget outlives a provider that cannot be asked', async () => {
  const settings = { provider: 'gone', model: 'm', mode: 'plan', budget: 2 } as const
  let kept: Preferences = { new_session: settings, layout: {} }
  const call = async (method: keyof Methods, args: unknown) => {
    if (method === 'preferences.get') return kept
    if (method === 'preferences.set') kept = args as Preferences
    const models = [{ id: 'tour', name: 'Tour' }]
    if (method === 'models.list') return { providers: [{ id: 'demo', ready: true, models }] }
    return {}
  }
  const bench = new Workbench(call as Call)
  await bench.load()
  expect(bench.settings).toMatchObject({ provider: 'demo', mode: 'plan', budget: 2 })
  await bench.configure({ ...bench.settings!, mode: 'auto' })
  expect(kept.new_session).toMatchObject({ mode: 'auto', budget: 2 })
})
