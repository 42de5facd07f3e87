import { expect, test } from 'vitest'
import { approvedPlan, blocksOf, remarksText, titleOf } from './plan'

test.each<[string, string, [number, string][]]>([
  ['nothing', '', []],
  [
    'paragraphs',
    'a\nb\n\nc',
    [
      [1, 'a\nb'],
      [4, 'c'],
    ],
  ],
  [
    'a heading and its text',
    '# A\nb',
    [
      [1, '# A'],
      [2, 'b'],
    ],
  ],
  [
    'items',
    '- a\n- b\n  c\n1. d\n2) e',
    [
      [1, '- a'],
      [2, '- b\n  c'],
      [4, '1. d'],
      [5, '2) e'],
    ],
  ],
  [
    'nested items',
    '- a\n  - b',
    [
      [1, '- a'],
      [2, '- b'],
    ],
  ],
  [
    'code with empty lines',
    '```ts\na\n\n# b\n```\nc',
    [
      [1, '```ts\na\n\n# b\n```'],
      [6, 'c'],
    ],
  ],
  ['code that does not end', '~~~\na\n\nb', [[1, '~~~\na\n\nb']]],
  ['a table', '| a |\n| - |\n| b |', [[1, '| a |\n| - |\n| b |']]],
  [
    'other scripts',
    '# 计划\n\n- 第一步',
    [
      [1, '# 计划'],
      [3, '- 第一步'],
    ],
  ],
  ['a number that begins no item', 'In\n2026 it was.', [[1, 'In\n2026 it was.']]],
])('%s are blocks with their lines', (_, plan, want) => {
  expect(blocksOf(plan).map(({ line, text }) => [line, text])).toEqual(want)
})

test.each([
  ['# A\n\nb', 'A'],
  ['intro\n\n## B', 'B'],
  ['just text\nmore', 'just text'],
  ['\n\n', ''],
  ['#no heading', '#no heading'],
])('%j is called %j', (plan, want) => expect(titleOf(plan)).toBe(want))

test('remarks quote the lines that they are about, and nothing is said of empty ones', () => {
  const plan = '# A\n\n- b\n- c'
  expect(
    remarksText(plan, { comments: { 3: ' why? ', 4: ' ', 9: 'gone' }, rest: 'Be brief.' }),
  ).toBe('On line 3 (“- b”): why?\n\nBe brief.')
  expect(remarksText(plan, { comments: {}, rest: '  ' })).toBe('')
})

test.each([undefined, null, 3, {}, { plan: 4 }, { plan: 'a' }, { plan: 'a', edited: true }])(
  'what a call keeps is read: %j',
  (state) => {
    const isPlan = typeof state === 'object' && state && 'plan' in state && state.plan === 'a'
    expect(approvedPlan(state)).toEqual(
      isPlan ? { plan: 'a', edited: 'edited' in state } : undefined,
    )
  },
)
