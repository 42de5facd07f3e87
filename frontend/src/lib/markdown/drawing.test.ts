import { expect, test } from 'vitest'
import { answerTo, isTooLarge, titleOf } from './drawing'

const svg = '<svg xmlns="http://www.w3.org/2000/svg"></svg>'

test.each([
  ['a picture', { id: 'a', svg }, { id: 'a', svg }],
  ['a picture and more', { id: 'a', svg, more: 1 }, { id: 'a', svg }],
  ['another drawing', { id: 'b', svg }, undefined],
  ['no id', { svg }, undefined],
  ['no object', 'a', undefined],
  ['nothing', null, undefined],
  ['something else than a picture', { id: 'a', svg: '<img>' }, { id: 'a', failure: 'unread' }],
  ['a picture of another type', { id: 'a', svg: [svg] }, { id: 'a', failure: 'unread' }],
  ['a huge picture', { id: 'a', svg: svg.padEnd(2_000_001) }, { id: 'a', failure: 'too_large' }],
  ['a failure', { id: 'a', failure: 'unknown' }, { id: 'a', failure: 'unknown' }],
  [
    'a failure in a line',
    { id: 'a', failure: 'unread', line: 3 },
    { id: 'a', failure: 'unread', line: 3 },
  ],
  ['a strange line', { id: 'a', failure: 'unread', line: '3' }, { id: 'a', failure: 'unread' }],
  ['a strange failure', { id: 'a', failure: '<b>' }, { id: 'a', failure: 'unread' }],
])('%s', (_, message, answer) => {
  expect(answerTo('a', message)).toEqual(answer)
})

test.each([
  ['flowchart LR\n  A --> B', 'flowchart LR'],
  ['---\ntitle: How it goes\n---\nflowchart LR', 'How it goes'],
  ['%% a comment\npie title Pets\n "Dogs": 3', 'pie title Pets'],
  ['sequenceDiagram\n  accTitle: Who calls\n  A->>B: x', 'Who calls'],
  ['gantt\n  title A plan', 'A plan'],
  ['', ''],
])('%j is called %j', (source, title) => {
  expect(titleOf(source)).toBe(title)
})

test('a diagram with too many characters or parts is too large', () => {
  expect(isTooLarge('a'.repeat(10_000))).toBe(false)
  expect(isTooLarge('a'.repeat(10_001))).toBe(true)
  expect(isTooLarge('a\n'.repeat(149))).toBe(false)
  for (const between of ['\n', ';', '&']) expect(isTooLarge(between.repeat(150))).toBe(true)
})
