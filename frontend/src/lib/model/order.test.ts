import { describe, expect, test } from 'vitest'
import { emptyView } from './entries'
import { Log, sampleTurn } from './testing'
import { apply } from './reducer'
import type { Queued, Verb } from '../types.gen'
import { deliveries, moved, phaseOf, placeAt, type Delivery, type Phase } from './order'

const queue = (verbs: string): Queued[] =>
  verbs.split(' ').map((verb, at) => ({ id: `${at}`, verb: `${verb}` as Verb, text: `${at}` }))

// LOOP-132, LOOP-133
test.each<[Phase, string, Delivery[]]>([
  ['tools', 'follow_up steer follow_up steer', ['next', 'after_tools', 'then', 'after_tools']],
  ['answer', 'steer follow_up', ['next_step', 'next']],
  ['rest', 'steer follow_up follow_up', ['along', 'waits', 'then']],
  ['command', 'steer follow_up follow_up', ['along', 'after_command', 'then']],
  ['compacting', 'steer follow_up follow_up', ['along', 'after_compacting', 'then']],
  ['rest', 'steer steer', ['waits', 'along']],
])('with %s, %s are delivered', (phase, verbs, want) => {
  expect(deliveries(queue(verbs), phase)).toEqual(want)
})

describe('moving', () => {
  const ids = (id: string, to: number) =>
    moved(queue('steer steer steer'), id, to).map((message) => message.id)

  test('puts a message at its place and keeps the others in order', () => {
    expect(ids('0', 2)).toEqual(['1', '2', '0'])
    expect(ids('2', 0)).toEqual(['2', '0', '1'])
  })

  test('changes nothing if the message is gone', () => {
    expect(ids('9', 0)).toEqual(['0', '1', '2'])
  })
})

test('the phase follows the tools of the turn', () => {
  const { events } = sampleTurn()
  const phases = events.map((_, end) => phaseOf(apply(emptyView, events.slice(0, end + 1))))
  expect([...new Set(phases)]).toEqual(['answer', 'tools', 'rest'])
  const next = new Log()
  next.add('user_input', { text: 'And now?' })
  expect(phaseOf(apply(apply(emptyView, events), next.events))).toBe('answer')
})

test.each([
  [0, 0],
  [25, 1],
  [99, 3],
])('a message dragged to the height %d takes place %d', (y, want) => {
  expect(placeAt([10, 30, 50], y)).toBe(want)
})
