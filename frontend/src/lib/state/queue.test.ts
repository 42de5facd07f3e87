import { beforeEach, expect, test } from 'vitest'
import { ApiError, type Call } from '../api'
import { queuedDraft, readDraft, writeDraft } from './drafts.svelte'
import { Log } from '../model/testing'
import type { Methods, Queued } from '../types.gen'
import { moved } from '../model/order'
import { Queue } from './queue.svelte'

/** A fake application that keeps a queue. */
function host(...texts: string[]) {
  let items: readonly Queued[] = texts.map((text) => ({ id: text, verb: 'follow_up', text }))
  const calls: string[] = []
  const gone = () => new ApiError({ code: 'not_found', message: 'Delivered.' })
  let refusal: ApiError | undefined
  const call = (async (method: keyof Methods, args: never) => {
    const { id, to, verb, text, message } = args as Queued & { to: number; message: Queued }
    calls.push(method)
    await Promise.resolve()
    if (refusal) throw refusal
    const subject = message?.id ?? id
    if (subject && !items.some((item) => item.id === subject)) throw gone()
    if (method === 'queue.list') return { queue: [...items] }
    if (method === 'queue.add') items = [...items, { id: text, verb, text }]
    if (method === 'queue.edit') items = items.map((item) => (item.id === subject ? message : item))
    if (method === 'queue.move') items = moved(items, id, to)
    if (method === 'queue.remove') items = items.filter((item) => item.id !== id)
    return { queue: [...items] }
  }) as unknown as Call
  const problems: string[] = []
  const queue = new Queue('s', call, (problem) => problems.push(problem.code ?? ''))
  queue.load(items, 0)
  return {
    queue,
    calls,
    problems,
    elsewhere: (...texts: string[]) =>
      (items = texts.map((text) => ({ id: text, verb: 'follow_up', text }))),
    deliver: (id: string) => (items = items.filter((item) => item.id !== id)),
    refuse: (code: 'busy' | 'store_failed') =>
      (refusal = new ApiError({ code, message: 'Not now.' })),
  }
}

const texts = (queue: Queue) => queue.items.map((message) => message.text)
const delivery = (id: string) =>
  new Log().add('steering_injected', { text: 'as it was', queue_id: id })

beforeEach(() => localStorage.clear())
beforeEach(() => writeDraft('s', ''))

// LOOP-14, LOOP-15
test('messages are added, edited, moved and removed', async () => {
  const { queue } = host('a', 'b')
  expect(await queue.add('steer', 'c')).toBe(true)
  await queue.edit({ ...queue.items[0]!, text: 'A' })
  const moving = queue.move('c', 0)
  expect(texts(queue)).toEqual(['c', 'A', 'b'])
  await moving
  await queue.remove(queue.items[2]!)
  expect(queue.items).toMatchObject([
    { verb: 'steer', text: 'c' },
    { verb: 'follow_up', text: 'A' },
  ])
})

// LOOP-132, LOOP-133
test('a delivered message is removed, and a stale reply does not restore it', async () => {
  const { queue } = host('a', 'b')
  const moving = queue.move('a', 1)
  queue.receive([delivery('a')])
  await moving
  expect(texts(queue)).toEqual(['b'])
})

test('changes are made one at a time', async () => {
  const { queue, calls } = host('a')
  void queue.add('steer', 'b')
  void queue.add('steer', 'c')
  await queue.move('c', 0)
  expect(calls).toEqual(['queue.add', 'queue.add', 'queue.move'])
  expect(texts(queue)).toEqual(['c', 'a', 'b'])
})

test('a queue that was read before a change does not undo it', async () => {
  const { queue } = host('a')
  const { items, changes } = queue
  await queue.add('steer', 'b')
  queue.load(items, changes)
  expect(texts(queue)).toEqual(['a', 'b'])
})

test('a change of a delivered message is not a failure', async () => {
  const { queue, problems, deliver } = host('a', 'b')
  deliver('a')
  await queue.remove(queue.items[0]!)
  expect(texts(queue)).toEqual(['b'])
  expect(queue.note).toEqual({ about: 'delivered' })
  expect(problems).toEqual([])
})

test('a change that is rejected is reverted and reported', async () => {
  const { queue, problems, refuse } = host('a', 'b')
  refuse('store_failed')
  await queue.move('a', 1)
  expect(await queue.add('steer', 'c')).toBe(false)
  expect(texts(queue)).toEqual(['a', 'b'])
  expect(problems).toEqual(['store_failed', 'store_failed'])
})

test('the text of a removed message can be put back into the message field', async () => {
  const { queue } = host('a')
  await queue.remove(queue.items[0]!)
  expect(queue.note).toEqual({ about: 'removed', text: 'a' })
  queue.undo()
  expect(readDraft('s')).toBe('a')
  expect(queue.note).toBeUndefined()
})

test('the text is put back as a message, even if the field has a command', async () => {
  const { queue } = host('a', '!b')
  writeDraft('s', '!ls')
  await queue.remove(queue.items[0]!)
  queue.undo()
  expect(readDraft('s')).toBe('a\n\n!ls')
  writeDraft('s', '')
  await queue.remove(queue.items[0]!)
  queue.undo()
  expect(readDraft('s')).toBe(' !b')
})

test('an edit is put into the message field if its message is delivered meanwhile', () => {
  const { queue } = host('a', 'b')
  writeDraft('s', 'written')
  writeDraft(queuedDraft('s', 'a'), 'changed')
  writeDraft(queuedDraft('s', 'b'), 'b')
  queue.receive([delivery('a'), delivery('b')])
  expect(readDraft('s')).toBe('written\n\nchanged')
  expect(queue.note).toEqual({ about: 'put_back' })
  expect(readDraft(queuedDraft('s', 'a'))).toBe('')
})

test('the queue runs from its first follow-up, or from its first message', async () => {
  const { queue, calls } = host('a')
  await queue.run()
  expect(calls).toEqual(['queue.run'])
  await queue.edit({ ...queue.items[0]!, verb: 'steer' })
  calls.length = 0
  await queue.run()
  expect(calls).toEqual(['queue.edit', 'queue.run'])
})

test('another page’s changes are followed, once for several, and after own changes', async () => {
  const { queue, calls, elsewhere } = host('a', 'b')
  const change = new Log().add('queue_change', {})
  const adding = queue.add('follow_up', 'c')
  queue.receive([change, change])
  await adding
  elsewhere('b', 'd')
  await expect.poll(() => texts(queue)).toEqual(['b', 'd'])
  expect(calls).toEqual(['queue.add', 'queue.list'])
})
