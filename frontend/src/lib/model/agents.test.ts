import { describe, expect, test } from 'vitest'
import { agentName, agentOf, agentState, reportOf, stepOf, nested } from './agents'
import type { Entry, ToolEntry } from './entries'
import { sessionInfo } from './testing'

// LOOP-49
test.each([
  ['starting', {}],
  ['working', { state: 'processing', last_end: 'done' }],
  ['waiting', { state: 'awaiting_input' }],
  ['done', { last_end: 'done' }],
  ['failed', { last_end: 'failed' }],
  ['failed', { last_end: 'crashed' }],
  ['stopped', { last_end: 'interrupted' }],
  ['stopped', { last_end: 'budget' }],
] as const)('an agent is %s when its session is %o', (want, change) => {
  expect(agentState(sessionInfo('a', change))).toBe(want)
})

describe('a call', () => {
  const call = (change: Partial<ToolEntry>) => ({ input: '{}', output: '', ...change }) as ToolEntry

  // LOOP-48
  test('concerns the agent that it started or names', () => {
    const details = { agent: { session: 'a' } }
    expect(agentOf(call({ tool: 'SpawnAgent', details }))).toBe('a')
    expect(agentOf(call({ tool: 'Agent', details }))).toBe('a')
    expect(agentOf(call({ tool: 'Wait', input: '{"agent_id":"b"}' }))).toBe('b')
    expect(agentOf(call({ tool: 'Wait', input: '{"agent_id":7}' }))).toBeUndefined()
    expect(agentOf(call({ tool: 'Other', input: '{"agent_id":"b"}' }))).toBeUndefined()
  })

  // LOOP-149
  test('that waited contains the agent’s report', () => {
    const output = '{"output":"They pass.","success":true,"turns_used":2}'
    expect(reportOf(call({ output }))).toEqual({ output: 'They pass.', turns: 2 })
    expect(reportOf(call({ output: output.slice(0, 20) }))).toBeUndefined()
  })
})

// COM-61
describe('an agent', () => {
  test('is called by its name and its kind', () => {
    const helper = { parent: 'p', folder: '/p', rounds: 1 }
    const named = (more: object) => agentName(sessionInfo('a', { helper: { ...helper, ...more } }))
    expect(named({})).toBe('')
    expect(named({ type: 'general-purpose' })).toBe('')
    expect(named({ type: 'Explore', name: 'rob' })).toBe('rob · Explore')
  })

  test('stands behind the one that started it', () => {
    const at = (id: string, by?: string) =>
      sessionInfo(id, { helper: { parent: 'p', folder: '/p', rounds: 1, by } })
    const all = [at('a'), at('b'), at('c', 'a'), at('d', 'c'), at('e', 'a'), at('f', 'gone')]
    expect(nested(all).map(({ id }) => id)).toEqual(['a', 'c', 'd', 'e', 'b', 'f'])
  })

  test('is at the call that runs, and at none while its model answers', () => {
    const tool = (status: string) => ({ type: 'tool', status }) as ToolEntry
    const answer = { type: 'answer' } as Entry
    expect(stepOf([answer, tool('running')])).toEqual(tool('running'))
    expect(stepOf([tool('running'), answer])).toBeUndefined()
    expect(stepOf([answer, tool('done')])).toBeUndefined()
    expect(stepOf([])).toBeUndefined()
  })
})
