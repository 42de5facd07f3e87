import { describe, expect, test } from 'vitest'
import type { AnswerEntry, Entry, PromptEntry, ToolEntry, TurnEntry } from './entries'
import { densities, type Folds, indexNear, leftOpen, nextDensity, revealed, Rows } from './rows'
import { callOf, noUsage } from './testing'

const prompt = (key: string): PromptEntry => ({ type: 'prompt', key, seq: 1, text: key })
const answer = (key: string): AnswerEntry => ({
  type: 'answer',
  key,
  text: key,
  thinking: '',
  textFrom: 0,
  thinkingFrom: 0,
  streaming: false,
})
const call = (key: string, change: Partial<ToolEntry> = {}) =>
  callOf('Read', { file_path: key }, { key, ...change })
const end = (key: string, reason: TurnEntry['reason'] = 'done'): TurnEntry => ({
  type: 'turn',
  key,
  reason,
  usage: noUsage,
  durationMs: 1,
  changed: 0,
})
const warning: Entry = { type: 'notice', key: 'w', notice: 'warning', code: '', message: 'w' }
const nudge: Entry = { type: 'notice', key: 'n', notice: 'nudge', message: 'Go on.' }
const none: Folds = new Map()
const keys = (entries: readonly Entry[], density: (typeof densities)[number] = '', folds = none) =>
  new Rows().of(entries, density, folds).map(({ key }) => key)

const failed = call('bad', {
  tool: 'Bash',
  status: 'failed',
  details: { command: { exit_code: 1 } } as ToolEntry['details'],
})
const turn = [prompt('p'), answer('a1'), call('c1'), call('c2'), failed, answer('a2'), end('t')]

describe('a finished turn', () => {
  test.each<[string, readonly Entry[], string[]]>([
    ['shows its line, what failed last and its last answer', turn, ['p', 'ft', 'bad', 'a2']],
    [
      'that failed keeps its end, which offers to try again',
      [...turn.slice(0, 4), end('t', 'failed')],
      ['p', 'ft', 'a1', 't'],
    ],
    [
      'keeps steering messages',
      [...turn.slice(0, 4), prompt('s'), end('t')],
      ['p', 'ft', 'a1', 's'],
    ],
    [
      'keeps what the user said to a call, and agents',
      [
        ...turn.slice(0, 4),
        call('no', { status: 'denied', answer: { decision: 'deny', feedback: 'Keep it' } }),
        call('agent', { tool: 'SpawnAgent' }),
        end('t'),
      ],
      ['p', 'ft', 'a1', 'no', 'agent'],
    ],
    ['of one call has nothing to fold', [prompt('p'), call('c'), end('t')], ['p', 'c', 't']],
    ['of one answer has nothing to fold', [prompt('p'), answer('a'), end('t')], ['p', 'a', 't']],
    [
      'has its line below its message, also if a notice came before that',
      [warning, nudge, ...turn],
      ['w', 'p', 'ft', 'bad', 'a2'],
    ],
    ['that was continued has no message', turn.slice(1), ['ft', 'bad', 'a2']],
    ['is not folded while it runs', turn.slice(0, -1), ['p', 'a1', 'gc1', 'bad', 'a2']],
  ])('%s', (_, entries, rows) => {
    expect(keys(entries)).toEqual(rows)
  })

  test('unfolds, and stays unfolded while others are added', () => {
    const folds = leftOpen(turn.at(-1) as TurnEntry, none)
    const open = ['p', 'ft', 'a1', 'gc1', 'bad', 'a2', 't']
    expect(keys(turn, '', folds)).toEqual(open)
    expect(keys([...turn, prompt('q')], '', folds)).toEqual([...open, 'q'])
  })

  test('is a line and its last answer in a summary, and everything when verbose', () => {
    expect(keys(turn, 'summary')).toEqual(['p', 'ft', 'a2'])
    expect(keys(turn, 'verbose')).toEqual(turn.map(({ key }) => key))
    expect(densities.map(nextDensity)).toEqual(['verbose', 'summary', ''])
  })
})

describe('a run of calls', () => {
  const run = [call('c1'), call('c2'), call('c3')]

  test('is grouped, without the newest call of a running turn', () => {
    expect(keys(run)).toEqual(['gc1', 'c3'])
    expect(keys([...run, answer('a')])).toEqual(['gc1', 'a'])
    expect(keys([call('c1'), call('c2')])).toEqual(['c1', 'c2'])
  })

  test.each<[string, ToolEntry]>([
    ['failed', failed],
    ['waits', call('w', { status: 'waiting' })],
    ['runs', call('w', { status: 'running' })],
    [
      'changed a file',
      call('w', { details: { changes: [{ path: 'a', added: 1, removed: 0, diff: '' }] } }),
    ],
    ['started an agent', call('w', { tool: 'SpawnAgent' })],
  ])('is left by a call that %s', (_, other) => {
    expect(keys([...run, other, ...run.slice(0, 2), answer('a')])).toEqual([
      'gc1',
      other.key,
      'gc1',
      'a',
    ])
  })

  test('opens, with its calls below its line', () => {
    const rows = new Rows()
    const folds = new Map([['gc1', true]])
    expect(rows.of([...run, answer('a')], '', folds).map(({ key }) => key)).toEqual([
      'gc1',
      'c1',
      'c2',
      'c3',
      'a',
    ])
    expect(rows.isInside(run[1]!)).toBe(true)
    expect(rows.isInside(failed)).toBe(false)
  })

  test('does not take in a call that the user opened', () => {
    expect(keys([...run, answer('a')], '', new Map([['c3', true]]))).toEqual(['gc1', 'c3', 'a'])
  })
})

test('an entry is revealed in its turn and its group', () => {
  expect(keys(turn)).not.toContain('c2')
  expect(keys(turn, '', revealed(turn, 'c2', none))).toContain('c2')
  expect(revealed(turn, 'unknown', none)).toBe(none)
})

test('turns that are over are not computed again, also after older ones were put before them', () => {
  const rows = new Rows()
  const fold = (entries: readonly Entry[]) =>
    rows.of(entries, '', none).find(({ type }) => type === 'fold')
  const first = fold(turn)
  expect(fold([...turn, prompt('q')])).toBe(first)
  const older = [prompt('o'), answer('b'), end('u')]
  expect(rows.of([...older, ...turn], '', none).map(({ key }) => key)).toEqual([
    'o',
    'b',
    'u',
    'p',
    'ft',
    'bad',
    'a2',
  ])
})

test.each<['' | 'verbose', string, string]>([
  ['', 'p', 'p'],
  ['', 'c2', 'ft'],
  ['verbose', 'ft', 't'],
  ['verbose', 'gc1', 'c1'],
])('in the density %o, what was at %s is at %s', (density, key, expected) => {
  const rows = new Rows().of(turn, density, none)
  expect(rows[indexNear(rows, key)]?.key).toBe(expected)
})
