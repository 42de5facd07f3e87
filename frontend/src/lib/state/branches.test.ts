import { expect, test } from 'vitest'
import { ApiError, type Call } from '../api'
import type { Envelope } from '../types.gen'
import { Branches } from './branches.svelte'

/** A host that answers each method, and what it was asked. */
function hostOf(answers: Record<string, unknown>) {
  const asked: [string, unknown][] = []
  const call = async (method: string, args: unknown) => {
    asked.push([method, args])
    const answer = answers[method]
    if (answer instanceof ApiError) throw answer
    return answer
  }
  return { branches: new Branches(call as unknown as Call), asked }
}

const take = { seal: 'x', hunks: 2, possible: true }
const settle = () => new Promise((resolve) => setTimeout(resolve))

test('the panel follows the open session', async () => {
  const { branches } = hostOf({
    'sessions.branches': { branches: [{ id: 'a' }, { id: 'b' }] },
    'sessions.compare': { files: [] },
  })
  branches.follow('a')
  await settle()
  expect(branches.list).toHaveLength(2)
  await branches.compare('b')
  expect([branches.other, branches.comparison]).toEqual(['b', { files: [] }])
  branches.follow('b')
  expect([branches.other, branches.comparison, branches.list]).toEqual([undefined, undefined, []])
})

test('the list is read again after a fork and after news of a branch', async () => {
  const { branches, asked } = hostOf({ 'sessions.branches': { branches: [{ id: 'a' }] } })
  branches.follow('a')
  await settle()
  const hear = async (session: string, kind: string) => {
    branches.receive({ session, events: [{ kind }] } as unknown as Envelope)
    await settle()
    return asked.length
  }
  expect(await hear('x', 'title')).toBe(1)
  expect(await hear('a', 'title')).toBe(2)
  expect(await hear('x', 'session_forked')).toBe(3)
})

test('a list that is read again meanwhile hides no failure of what the user asked for', async () => {
  const problem = new ApiError({ code: 'invalid', message: 'It has changed.' })
  const answers: Record<string, unknown> = { 'sessions.branches': {}, 'sessions.fork': problem }
  const { branches } = hostOf(answers)
  branches.follow('a')
  await branches.fork({ session: 'a' })
  await branches.load()
  expect([branches.problem, branches.failure]).toEqual([problem, null])
  answers['sessions.branches'] = problem
  await branches.load()
  expect(branches.failure).toBe(problem)
  answers['sessions.branches'] = {}
  await branches.load()
  expect([branches.problem, branches.failure]).toEqual([problem, null])
})

test('a hunk is taken as it was shown, and what differs is read again', async () => {
  const { branches, asked } = hostOf({
    'sessions.branches': {},
    'sessions.compare': { files: [] },
    'sessions.compare_file': { path: 'f', take },
    'sessions.take': {},
  })
  branches.follow('a')
  await branches.compare('b')
  await branches.open('f')
  expect(await branches.take([1])).toBe(true)
  const request = { session: 'a', with: 'b', path: 'f', seal: 'x', hunks: [1], rest: true }
  expect(asked).toContainEqual(['sessions.take', request])
  expect(asked.filter(([method]) => method === 'sessions.compare_file')).toHaveLength(2)
})

test('a refusal is shown, and nothing counts as taken', async () => {
  const problem = new ApiError({ code: 'invalid', message: 'It has changed.' })
  const { branches } = hostOf({
    'sessions.branches': {},
    'sessions.compare': { files: [] },
    'sessions.compare_file': { path: 'f', take },
    'sessions.take': problem,
    'sessions.fork': problem,
  })
  branches.follow('a')
  await branches.compare('b')
  await branches.open('f')
  expect(await branches.take()).toBe(false)
  expect(branches.problem).toBe(problem)
  branches.ask({ session: 'a' })
  expect(branches.problem).toBeNull()
  expect(await branches.fork({ session: 'a', at: {} })).toBeUndefined()
  expect(branches.problem).toBe(problem)
})
