import { expect, test } from 'vitest'
import type { ApprovalRequest } from '../types.gen'
import { coverageOf, factsOf, following, inOrderOfArrival, rememberedBy } from './approvals'

const request = (change: Partial<ApprovalRequest>): ApprovalRequest => ({
  id: 'a1',
  call_id: 'c1',
  tool: 'Bash',
  input: '{"command":"make"}',
  reason: 'A command can change anything.',
  reason_code: 'command',
  access: { command: 'make' },
  outlook: { risk: 'low', effects: [{ id: 'runs_project', args: ['make'] }] },
  ...change,
})

test.each<[string, Partial<ApprovalRequest>, Partial<ReturnType<typeof factsOf>>]>([
  ['a command', {}, { asking: 'command', command: 'make', risk: 'low', rest: '', reason: false }],
  [
    'its limits in words',
    {
      input:
        '{"command":"make","timeout":120000,"description":"Build","run_in_background":true,"tty":true,"max_output_tokens":9,"yield_time_ms":5,"input":false}',
    },
    { timeoutMs: 120_000, background: true, terminal: true, rest: '' },
  ],
  [
    'what is left of its arguments',
    { input: '{"command":"make","odd":{"x":1},"timeout":"soon"}' },
    { rest: '{\n  "odd": {\n    "x": 1\n  },\n  "timeout": "soon"\n}' },
  ],
  [
    'a command that differs from what runs',
    { input: '{"command":"ls","timeout":1}', access: { command: 'rm x' } },
    { command: 'rm x', rest: '{\n  "command": "ls"\n}' },
  ],
  [
    'another folder',
    { input: '{"command":"make","workdir":"../x"}', access: { command: 'make', dir: '/x' } },
    { dir: '/x', rest: '' },
  ],
  [
    'what is typed to a command',
    { input: '{"id":"3","chars":"y\\n","wait":1}', access: { command: 'y\n', task: '3' } },
    { asking: 'typing', task: '3', command: 'y\n', rest: '{\n  "wait": 1\n}' },
  ],
  ['changes', { changes: [] }, { asking: 'changes', rest: '' }],
  [
    'another tool',
    { input: '{"query":"x","description":"y"}', access: {} },
    { asking: 'other', rest: '{\n  "query": "x",\n  "description": "y"\n}' },
  ],
  ['no JSON', { input: 'raw', access: {} }, { asking: 'other', rest: 'raw' }],
  ['an older log', { outlook: undefined }, { risk: 'elevated', effects: [], reason: true }],
  ['a hook', { reason_code: 'hook_wants_asked' }, { reason: true }],
])('facts of %s', (_, change, want) => {
  expect(factsOf(request(change))).toMatchObject(want)
})

test('questions keep their places, and the next one takes the place of an answered one', () => {
  expect(inOrderOfArrival([], ['b', 'a'])).toEqual(['b', 'a'])
  expect(inOrderOfArrival(['b', 'a'], ['c', 'a', 'b'])).toEqual(['b', 'a', 'c'])
  expect(inOrderOfArrival(['b', 'a'], ['a'])).toEqual(['a'])
  expect(following(['a', 'b', 'c'], 'b', ['a', 'b', 'c'])).toBe('b')
  expect(following(['a', 'b', 'c'], 'b', ['a', 'c'])).toBe('c')
  expect(following(['a', 'b', 'c'], 'c', ['a', 'b'])).toBe('a')
  expect(following(['a'], 'a', [])).toBeUndefined()
})

// K-47: hosts are allowed for this time, for the session or for the project.
test('a question about hosts is remembered by rules about them', () => {
  const about = (change: Partial<ApprovalRequest>) =>
    rememberedBy({ access: {}, ...change } as ApprovalRequest)
  const rule = 'Network(domain:pypi.org)\nNetwork(domain:files.pythonhosted.org)'
  const hosts = ['pypi.org', 'files.pythonhosted.org']
  expect(about({ access: { hosts }, final: true })).toEqual({
    session: { decision: 'allow', scope: 'session', rule },
    project: { decision: 'allow', scope: 'local', rule },
    rule: true,
  })
  expect(about({ access: { hosts }, each_time: true })).toEqual({ rule: false })
  expect(about({})).toEqual({ session: { decision: 'allow', scope: 'session' }, rule: true })
  expect(about({ final: true }).rule).toBe(false)
  expect(coverageOf({ tool: 'Bash', access: { command: 'x', hosts } } as ApprovalRequest)).toEqual({
    by: 'hosts',
    files: hosts,
  })
})
