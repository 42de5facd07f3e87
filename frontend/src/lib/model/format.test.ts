import { expect, test } from 'vitest'
import {
  age,
  ago,
  bytes,
  dollars,
  dollarsExact,
  duration,
  elapsed,
  limit,
  month,
  price,
  timeLimit,
  timeAgo,
  tokens,
} from './format'
import { markHidden, visiblePieces } from './visible'

test.each([
  [850, '850 ms'],
  [999.7, '1.0 s'],
  [59_960, '1 m 00 s'],
  [3240, '3.2 s'],
  [245_000, '4 m 05 s'],
  [3_700_000, '1 h 01 m'],
])('%i ms lasts %s', (ms, want) => expect(duration(ms)).toBe(want))

test.each([
  [-50, '0 s'],
  [4900, '4 s'],
  [65_000, '1 m 05 s'],
])('%i ms have elapsed as %s', (ms, want) => expect(elapsed(ms)).toBe(want))

test.each([
  [400, 'en', '1 s'],
  [120_000, 'en', '2 min'],
  [90_000, 'en', '1 min 30 s'],
  [120_000, 'zh-CN', '2 分钟'],
  [90_000, 'zh-CN', '1 分钟 30 秒'],
] as const)('a limit of %i ms is, in %s, %s', (ms, language, want) =>
  expect(timeLimit(ms, language)).toBe(want),
)

test.each([
  [940, '940'],
  [12_400, '12.4 k'],
  [999_960, '1.0 M'],
])('%i tokens are %s', (count, want) => expect(tokens(count)).toBe(want))

test('costs are formatted in dollars', () =>
  expect([0, 0.00018, 1.236].map(dollars)).toEqual(['$0.00', '<$0.01', '$1.24']))

test('an exact cost has four decimal places', () =>
  expect([0, 0.00002, 0.0037, 1.23456].map(dollarsExact)).toEqual([
    '$0.0000',
    '<$0.0001',
    '$0.0037',
    '$1.2346',
  ]))

test('prices keep up to four decimal places', () =>
  expect([0.075, 1.5, 15, 1200].map(price)).toEqual(['$0.075', '$1.50', '$15.00', '$1200.00']))

test('round limits have no decimal place', () =>
  expect([400_000, 131_072, 1_048_576].map(limit)).toEqual(['400 k', '131.1 k', '1 M']))

test('sizes have a unit', () =>
  expect([bytes(12), bytes(3400), bytes(5e9)]).toEqual(['12 B', '3.4 kB', '5.0 GB']))

test('relative times are short', () => {
  const now = Date.now()
  expect(ago(now, now, 'en')).toBe('now')
  expect(ago(now - 5 * 60_000, now, 'en')).toBe('5m')
  expect(ago(now - 3 * 3_600_000, now, 'en')).toBe('3h')
})

test.each([
  [0, 'now', '现在'],
  [5 * 60_000, '5m ago', '5分钟前'],
  [3 * 3_600_000, '3h ago', '3小时前'],
  [24 * 3_600_000, 'yesterday', '昨天'],
  [3 * 24 * 3_600_000, '3d ago', '3天前'],
])('in a sentence, %i ms before now are: %s', (ms, english, chinese) => {
  const now = new Date(2026, 10, 27, 12).getTime()
  expect(timeAgo(now - ms, now, 'en')).toBe(english)
  expect(timeAgo(now - ms, now, 'zh-CN')).toBe(chinese)
})

test('days begin at midnight, weeks on Monday, and what is older belongs to its month', () => {
  const at = (...date: [number, number, number, number, number]) => new Date(...date).getTime()
  const thursday = at(2026, 3, 2, 12, 0)
  expect(age(at(2026, 3, 2, 0, 0), thursday)).toBe('today')
  expect(age(at(2026, 3, 1, 23, 59), thursday)).toBe('yesterday')
  expect(age(at(2026, 2, 31, 23, 59), thursday)).toBe('week')
  expect(age(at(2026, 2, 30, 0, 0), thursday)).toBe('week')
  expect(age(at(2026, 2, 29, 23, 59), thursday)).toBe(at(2026, 2, 1, 0, 0))
  expect(age(at(2026, 2, 29, 12, 0), at(2026, 2, 30, 12, 0))).toBe('yesterday')
})

test('a month has its year unless that is the current one', () => {
  const now = new Date(2026, 10, 22).getTime()
  expect(month(new Date(2026, 9, 1).getTime(), now, 'en')).toBe('October')
  expect(month(new Date(2025, 9, 1).getTime(), now, 'en')).toBe('October 2025')
  expect(month(new Date(2025, 9, 1).getTime(), now, 'zh-CN')).toBe('2025年10月')
})

test('characters that hide or reorder text are made visible', () => {
  expect(visiblePieces('a\u202eb\n\tc\u0000')).toEqual([
    { text: 'a', hidden: false },
    { text: '⟨U+202E⟩', hidden: true },
    { text: 'b\n\tc', hidden: false },
    { text: '⟨U+0000⟩', hidden: true },
  ])
})

test('in prose only what reorders text is made visible', () => {
  expect(visiblePieces('a\u202eb', true)).toEqual([
    { text: 'a', hidden: false },
    { text: '⟨U+202E⟩', hidden: true },
    { text: 'b', hidden: false },
  ])
  const family = '👩\u200d👧\u200b'
  expect(visiblePieces(family, true)).toEqual([{ text: family, hidden: false }])
})

test.each([
  ['a filler that looks like a space', 'x\u3164y', 'x⟨U+3164⟩y'],
  ['a joiner', 'x\u034fy', 'x⟨U+034F⟩y'],
  ['the blank of Braille', 'x\u2800y', 'x⟨U+2800⟩y'],
  ['a variation selector that carries data', 'x\u{e0101}y', 'x⟨U+E0101⟩y'],
  ['an emoji', '✔\ufe0f', '✔\ufe0f'],
])('%s', (_, text, shown) => {
  expect(markHidden(text)).toBe(shown)
})
