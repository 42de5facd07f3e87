import { expect, test } from 'vitest'
import { isLong, splitAttached, withAttached, type Attachment } from './attached'

const shot: Attachment = {
  path: '/home/me/.atelier/attached/0a1b2c3d/shot-99aabbcc.png',
  mention: '@/home/me/.atelier/attached/0a1b2c3d/shot-99aabbcc.png',
  name: 'shot.png',
  kind: 'picture',
}
const log: Attachment = {
  path: 'C:\\My Data\\attached\\0a1b2c3d\\build-00000000.log',
  mention: '@"C:\\My Data\\attached\\0a1b2c3d\\build-00000000.log"',
  name: 'build.log',
  kind: 'text',
}
const other: Attachment = {
  path: '/a/attached/0a1b2c3d/no-ending-00000001',
  mention: '@/a/attached/0a1b2c3d/no-ending-00000001',
  name: 'no-ending',
  kind: 'other',
}

test.each([
  ['What is this?', [shot]],
  ['', [shot, log]],
  ['Two\n\nparagraphs', [log, other, shot]],
  ['nothing attached', []],
  ['', []],
])('a message with files behind its text is divided again: %j', (text, files) => {
  const message = withAttached(text, files)
  expect(splitAttached(message)).toEqual({ text, files })
})

test.each([
  'See @src/attached/a.png',
  'See\n\n@/p/attached/short/x.png',
  '@/a/attached/0a1b2c3d/x.png is what I mean',
  'In the middle\n\n@/a/attached/0a1b2c3d/x-00000000.png\n\nmore',
])('what only looks like it stays text: %j', (message) => {
  expect(splitAttached(message)).toEqual({ text: message, files: [] })
})

test('dividing takes no longer for a hostile message', () => {
  const message = '\n\n' + '@/a/attached/0a1b2c3d/x '.repeat(20_000) + '!'
  const begun = performance.now()
  splitAttached(message)
  expect(performance.now() - begun).toBeLessThan(2000)
})

test('a long text is one of many characters or lines', () => {
  expect(isLong('x'.repeat(3999))).toBe(false)
  expect(isLong('x'.repeat(4000))).toBe(true)
  expect(isLong('\n'.repeat(78))).toBe(false)
  expect(isLong('\n'.repeat(79))).toBe(true)
})
