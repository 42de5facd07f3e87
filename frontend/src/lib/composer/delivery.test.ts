import { beforeEach, expect, test } from 'vitest'
import { handOver, readDraft, writeDraft } from '../state/drafts.svelte'
import { Delivery } from './delivery.svelte'

let [owner, taken] = ['', [] as string[]]
beforeEach(() => {
  ;[owner, taken] = ['/delivery', []]
  for (const each of ['/delivery', 's', 'other']) writeDraft(each, '')
})

/** Takes a text once it is told to. */
function later(text: string) {
  let accept = () => {}
  const accepted = new Promise<void>((resolve) => (accept = resolve))
  const take = () => accepted.then(() => taken.push(text) > 0)
  return { take, accept }
}

test('a text that follows the message that begins a session is taken from the draft of that session', async () => {
  const delivery = new Delivery(() => owner)
  const [one, two] = [later('One'), later('Two')]
  writeDraft('/delivery', 'OneTwoRest')
  const all = delivery.give('One', one.take)
  void delivery.give('Two', two.take)
  handOver('/delivery', 's')
  owner = 's'
  expect(delivery.rest(readDraft('s'))).toBe('Rest')
  one.accept()
  two.accept()
  await all
  expect([taken, readDraft('s'), readDraft('/delivery')]).toEqual([['One', 'Two'], 'Rest', ''])
  expect(delivery.busy).toBe(false)
})

test('a text that follows stays in its draft if the user goes to another session', async () => {
  const delivery = new Delivery(() => owner)
  const [one, two] = [later('One'), later('Two')]
  owner = 's'
  writeDraft('s', 'OneTwo')
  writeDraft('other', 'One')
  const all = delivery.give('One', one.take)
  void delivery.give('Two', two.take)
  owner = 'other'
  expect(delivery.rest(readDraft('other'))).toBe('One')
  one.accept()
  two.accept()
  await all
  expect([taken, readDraft('s'), readDraft('other')]).toEqual([['One'], 'Two', 'One'])
})

test('a refused first message does not keep the start from sending another one', async () => {
  const delivery = new Delivery(() => owner)
  await delivery.give('One', () => {
    handOver('/delivery', 's')
    return Promise.resolve(false)
  })
  const next = later('Two')
  const all = delivery.give('Two', next.take)
  next.accept()
  await all
  expect(taken).toEqual(['Two'])
})
