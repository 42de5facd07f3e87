import { expect, test } from 'vitest'
import { ApiError, type Call } from '../api'
import type { TrustRow, TrustState } from '../types.gen'
import { Trust } from './trust.svelte'

/** A host with items, which accepts only what it has shown. */
function hosted(...items: TrustRow[]) {
  const calls: string[] = []
  const change = (id: string, state: TrustState) => {
    const at = items.findIndex((item) => item.id === id)
    items[at] = { ...items[at]!, state }
  }
  let seal = 'one'
  const call = async (method: string, { id = '', seal: shown = '' }) => {
    calls.push(`${method} ${id}`.trim())
    if (method === 'trust.list') return { items: [...items] }
    if (method === 'trust.show') return { ...items.find((item) => item.id === id), seal }
    if (method === 'trust.accept' && shown !== seal)
      throw new ApiError({ code: 'x', message: 'No.' })
    change(id, method === 'trust.accept' ? 'trusted' : 'refused')
    return {}
  }
  return { trust: new Trust(call as unknown as Call), calls, change, edit: () => (seal = 'two') }
}

const item = (id: string, state: TrustState = 'unknown'): TrustRow => ({
  ...{ id, kind: 'hook', title: id, scope: 'project', origin: '/p/.agent/settings.json' },
  ...{ command: id, state },
})

// K-35
test('items that wait are reviewed one after the other', async () => {
  const { trust } = hosted(item('a'), item('b', 'trusted'), item('c', 'changed'))
  await trust.load()
  expect(trust.asked.map(({ id }) => id)).toEqual(['a', 'c'])
  await trust.review()
  expect(trust.shown?.id).toBe('a')
  expect(await trust.accept()).toBe(true)
  expect(trust.shown?.id).toBe('c')
  expect(await trust.refuse()).toBe(true)
  expect(trust.reviewed).toBeUndefined()
  expect(trust.asked).toEqual([])
})

test('a review that is closed while the answer is on its way stays closed', async () => {
  const { trust } = hosted(item('a'), item('b'))
  await trust.load()
  await trust.review()
  const accepted = trust.accept()
  trust.close()
  expect(await accepted).toBe(true)
  expect(trust.reviewed).toBeUndefined()
  expect(trust.waiting.map(({ id }) => id)).toEqual(['b'])
})

test('an item that changed since it was shown is not trusted, and is shown again', async () => {
  const { trust, edit } = hosted(item('a'))
  await trust.load()
  await trust.review()
  edit()
  expect(await trust.accept()).toBe(false)
  expect(trust.problem?.message).toBe('No.')
  expect(trust.shown?.seal).toBe('two')
  expect(await trust.accept()).toBe(true)
})

test('the decision of another page is shown', async () => {
  const { trust, change } = hosted(item('a'), item('b'))
  await trust.load()
  await trust.review()
  change('a', 'trusted')
  await trust.load()
  expect(trust.shown).toMatchObject({ id: 'a', state: 'trusted' })
  expect(trust.place).toBe(0)
  change('b', 'trusted')
  await trust.load()
  expect(trust.asked).toEqual([])
})

test('an item that was put off does not ask again until it changes', async () => {
  const { trust, change } = hosted(item('a'))
  await trust.load()
  trust.putOff()
  await trust.load()
  expect(trust.asked).toEqual([])
  expect(trust.waiting).toHaveLength(1)
  change('a', 'changed')
  await trust.load()
  expect(trust.asked).toHaveLength(1)
})

// K-35
test('what waits can be trusted at once as soon as each item was shown, exactly as it was shown', async () => {
  const { trust, calls } = hosted(item('a'), item('b', 'changed'), item('c', 'trusted'), item('d'))
  await trust.load()
  await trust.review()
  expect(trust.isAllSeen).toBe(false)
  expect(await trust.acceptAll()).toBe(false)
  await trust.next()
  expect(trust.shown?.id).toBe('b')
  await trust.next()
  expect(trust.shown?.id).toBe('d')
  expect(trust.isAllSeen).toBe(true)
  expect(await trust.acceptAll()).toBe(true)
  expect(calls.filter((call) => call.startsWith('trust.accept'))).toEqual(
    ['a', 'b', 'd'].map((id) => `trust.accept ${id}`),
  )
  expect(trust.reviewed).toBeUndefined()
})

test('one item alone has no second button, and one that came since must be seen', async () => {
  const { trust, change } = hosted(item('a'), item('b', 'trusted'))
  await trust.load()
  await trust.review()
  expect(trust.isAllSeen).toBe(false)
  change('b', 'changed')
  await trust.load()
  expect(trust.isAllSeen).toBe(false)
  await trust.next()
  expect(trust.isAllSeen).toBe(true)
  change('a', 'changed') // in another state than it was seen
  await trust.load()
  expect(trust.isAllSeen).toBe(false)
})

test('of several items, what changed since it was shown stops the rest and is shown again', async () => {
  const { trust, edit } = hosted(item('a'), item('b'))
  await trust.load()
  await trust.review()
  await trust.next()
  edit()
  expect(await trust.acceptAll()).toBe(false)
  expect(trust.problem?.message).toBe('No.')
  expect(trust.shown).toMatchObject({ id: 'a', seal: 'two' })
  expect(trust.waiting).toHaveLength(2)
})
