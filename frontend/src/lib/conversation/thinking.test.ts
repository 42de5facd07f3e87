import { expect, test } from 'vitest'
import { lastLine } from './thinking'

test.each([
  ['', ''],
  ['One.\nTwo is', 'Two is'],
  ['One.\n\n**Looking at it**\n', 'Looking at it'],
  ['- a point', 'a point'],
])('the last line of %j is %j', (thinking, want) => {
  expect(lastLine(thinking)).toBe(want)
})
