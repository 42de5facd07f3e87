import { expect, test } from 'vitest'
import { ApiError, type Call } from '../api'
import type { Approval, Envelope } from '../types.gen'
import { Approvals } from './approvals.svelte'
import { RuleForm } from './ruleForm.svelte'

const approval = (id: string): Approval => ({
  session: `s-${id}`,
  title: id,
  since: 1,
  request: { id, call_id: 'c', tool: 'Bash', input: '{}', reason: 'x', access: {} },
})
const envelope = (session: string, kind: string, data: unknown) =>
  ({ session, events: [{ kind, data, at: 1 }] }) as unknown as Envelope
const settle = () => new Promise((resolve) => setTimeout(resolve))

/** A host that has what waits, and that notes its calls. */
function hosted(waits: Approval[], replies: Record<string, unknown> = {}) {
  const calls: unknown[] = []
  const call = async (method: string, args: unknown) => {
    const reply = replies[method] ?? {}
    if (reply instanceof Error) throw reply
    if (method === 'approvals.list') return { approvals: [...waits] }
    calls.push([method, args])
    return reply
  }
  return { approvals: new Approvals(call as unknown as Call), calls }
}

test('OAS-630: what waits is read, and followed by the events of all sessions', async () => {
  const waits = [approval('a'), approval('b'), approval('c')]
  const { approvals } = hosted(waits)
  const ids = () => approvals.list.map(({ request }) => request.id)
  await approvals.load()
  expect(ids()).toEqual(['a', 'b', 'c'])
  waits.splice(0, 1)
  approvals.receive(envelope('s-a', 'approval_answer', { id: 'a', rule: { text: 'x' } }))
  expect(ids()).toEqual(['b', 'c'])
  expect(approvals.ruled).toBe(1)
  waits.splice(0, 1)
  approvals.receive(envelope('s-b', 'tool_call_end', { call_id: 'c' }))
  expect(ids()).toEqual(['c'])
  await settle()
  waits.push(approval('d'))
  approvals.receive(envelope('s-d', 'approval_request', {}))
  await settle()
  expect(ids()).toEqual(['c', 'd'])
})

test('an answer goes to its session, and a failure is kept to be shown', async () => {
  const well = hosted([approval('a')])
  expect(await well.approvals.answer(approval('a'), { decision: 'deny' })).toBe(true)
  expect(well.calls).toEqual([
    ['conversation.answer', { session: 's-a', approval: 'a', answer: { decision: 'deny' } }],
  ])
  const ill = hosted([], { 'conversation.answer': new ApiError({ code: 'x', message: 'No.' }) })
  expect(await ill.approvals.answer(approval('a'), { decision: 'deny' })).toBe(false)
  expect(ill.approvals.problem?.message).toBe('No.')
})

test('a reading that failed is past once another one worked, and a failed answer is not', async () => {
  const problem = new ApiError({ code: 'x', message: 'No.' })
  const results: Record<string, unknown> = {
    'conversation.answer': problem,
    'approvals.list': problem,
  }
  const { approvals } = hosted([], results)
  await approvals.answer(approval('a'), { decision: 'deny' })
  await approvals.load()
  expect([approvals.failure, approvals.problem]).toEqual([problem, problem])
  delete results['approvals.list']
  await approvals.load()
  expect([approvals.failure, approvals.problem]).toEqual([undefined, problem])
})

test('a rule begins as the narrowest suggestion and says what it would have matched', async () => {
  const tried = { words: { means: 'command' }, calls: 40, matched: 37, asked: 3, outside: 2 }
  const { approvals, calls } = hosted([], {
    'permissions.suggest': { rules: [{ rule: 'Bash(make)' }, { rule: 'Bash(make *)' }] },
    'permissions.try': tried,
  })
  const draft = new RuleForm(approvals.attemptFor('s', 'a'), { decision: 'allow' })
  expect(draft.request(0)).toBeUndefined()
  await draft.offer(approvals.suggest('s', 'a'))
  await settle()
  expect(draft.rule).toBe('Bash(make)')
  expect(draft.tried).toEqual(tried)
  expect(calls.at(-1)).toEqual([
    'permissions.try',
    { rule: 'Bash(make)', decision: 'allow', session: 's', approval: 'a' },
  ])
  draft.expiry = 'date'
  expect(draft.request(0)).toBeUndefined()
  draft.expiry = 'week'
  draft.scope = 'user'
  const expires = 7 * 86_400_000
  const want = { decision: 'allow', scope: 'user', rule: 'Bash(make)', expires }
  expect(draft.request(0)).toEqual(want)
})

test('a rule that cannot be read is not an answer', async () => {
  const { approvals } = hosted([], {
    'permissions.try': new ApiError({ code: 'invalid', message: 'It has no end.' }),
  })
  const draft = new RuleForm(approvals.attemptFor('s', 'a'), { decision: 'deny' })
  draft.rule = 'Bash('
  await settle()
  expect(draft.problem?.message).toBe('It has no end.')
  expect(draft.request(0)).toBeUndefined()
})

test.each([
  [['Bash(a | b)'], ['Bash(a *)', 'Bash(b *)'], ['Bash(a | b)', 'Bash(a *)\nBash(b *)']],
  [[], ['Bash(npm ci *)', 'Bash(tsc *)'], ['Bash(npm ci *)\nBash(tsc *)']],
  [['Bash(a)', 'Bash(a *)'], ['Bash(a *)'], ['Bash(a)', 'Bash(a *)']],
  [['Bash(ls /tmp)'], ['Read(//tmp)'], ['Bash(ls /tmp)', 'Read(//tmp)']],
  [['Bash(make)'], [], ['Bash(make)']],
])('of %j and the parts %j are offered %j', async (rules, parts, want) => {
  const reply = (texts: string[]) => texts.map((rule) => ({ rule, words: { means: 'command' } }))
  const { approvals } = hosted([], {
    'permissions.suggest': { rules: reply(rules), parts: reply(parts) },
  })
  expect((await approvals.suggest('s', 'a')).map(({ rule }) => rule)).toEqual(want)
})
