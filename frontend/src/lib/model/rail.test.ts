import { expect, test } from 'vitest'
import { moved, readRail, turned, writeRail } from './rail'

const names = ['a', 'b', 'c', 'd']

// OC-05: order and visibility of the panels are the user's.
test.each([
  ['', 'a b c d'],
  ['c a -b d', 'c a -b d'],
  ['c gone c -a', 'c d -a b'], // unknown and repeated ones are left out, missing ones stand behind their neighbours
  ['d', 'a b c d'],
  ['  -x ', 'a b c d'],
])('the choice %j is the rail %j', (choice, want) =>
  expect(writeRail(readRail(names, choice))).toBe(want),
)

test('a panel moves within the rail', () => {
  const items = readRail(names)
  expect(writeRail(moved(items, 'b', -1))).toBe('b a c d')
  expect(writeRail(moved(items, 'd', 1))).toBe('a b c d')
  expect(writeRail(moved(items, 'x', 1))).toBe('a b c d')
})

test('a panel is hidden and shown again, and one at least stays', () => {
  const items = readRail(names, '-a -b -c d')
  expect(writeRail(turned(items, 'a'))).toBe('a -b -c d')
  expect(writeRail(turned(items, 'd'))).toBe('-a -b -c d')
})
