import { expect, test } from 'vitest'
import { emptyView } from './entries'
import { apply } from './reducer'
import { Log, noUsage } from './testing'
import { TurnEnds } from './turnEnds'

const end = { reason: 'done', rounds: 0, usage: noUsage } as const

test('the first end after an unfinished turn is noticed, once', () => {
  const log = new Log()
  const ends = new TurnEnds()
  const list = {}
  const entries = () => apply(emptyView, log.events).entries
  log.add('user_input', { text: 'one' })
  log.add('processing_end', end)
  expect(ends.since(list, entries(), false)).toBeUndefined()
  log.add('user_input', { text: 'two' })
  expect(ends.since(list, entries(), false)).toBeUndefined()
  const second = log.add('processing_end', end)
  log.add('user_input', { text: 'three' })
  log.add('processing_end', end)
  expect(ends.since(list, entries(), false)?.key).toBe(`e${second.seq}`)
  expect(ends.since(list, entries(), false)).toBeUndefined()
  // Turns that come whole were not shown unfinished.
  log.add('user_input', { text: 'four' })
  log.add('processing_end', end)
  expect(ends.since(list, entries(), false)).toBeUndefined()
})

test('neither older entries nor another list end a turn', () => {
  const log = new Log()
  log.add('user_input', { text: 'one' })
  log.add('processing_end', end)
  log.add('user_input', { text: 'two' })
  const { entries } = apply(emptyView, log.events)
  const ends = new TurnEnds()
  const list = {}
  expect(ends.since(list, entries.slice(2), false)).toBeUndefined()
  expect(ends.since(list, entries, true)).toBeUndefined()
  expect(ends.since({}, entries.slice(0, 1), false)).toBeUndefined()
  expect(ends.since(list, entries, false)).toBeUndefined()
})
