import { expect, test } from 'vitest'
import { lastLine, wholeSeconds } from './thinking'

test.each([
  [-50, '0 s'],
  [4900, '4 s'],
  [65_000, '1 m 05 s'],
])('%d ms of thinking are %s', (ms, want) => {
  expect(wholeSeconds(ms)).toBe(want)
})

test.each([
  ['', ''],
  ['One.\nTwo is', 'Two is'],
  ['One.\n\n**Looking at it**\n', 'Looking at it'],
  ['- a point', 'a point'],
])('of %j the newest line is %j', (thinking, want) => {
  expect(lastLine(thinking)).toBe(want)
})
