import { expect, test } from 'vitest'
import type { Approval, ApprovalRequest } from '../types.gen'
import { identical } from './identical'

const request = (id: string, change: Partial<ApprovalRequest> = {}): ApprovalRequest => ({
  id,
  call_id: 'c',
  tool: 'Bash',
  input: '{"command":"make"}',
  reason: 'x',
  access: { command: 'make' },
  ...change,
})
const waits = (r: ApprovalRequest): Approval => ({ session: r.id, title: '', since: 1, request: r })

test.each<[string, Partial<ApprovalRequest>, boolean]>([
  ['another session', { call_id: 'other', claim: 'It builds.', renewed: true }, true],
  ['another command', { input: '{"command":"make x"}' }, false],
  ['another folder', { access: { command: 'make', dir: '/x' } }, false],
  ['another change', { changes: [{ path: 'a', diff: '+x', added: 1, removed: 0 }] }, false],
  ['another tool', { tool: 'Write' }, false],
  ['another rule', { rule: { text: 'Bash(make)', decision: 'ask', scope: 'user' } }, false],
])('OAS-630: a request of %s is identical: %s', (_, change, want) => {
  const all = [waits(request('a')), waits(request('b', change))]
  expect(identical(all, request('a')).map((each) => each.request.id)).toEqual(want ? ['b'] : [])
})
