import { expect, test } from 'vitest'
import { ApiError, type Call } from '../api'
import type { UndoFile, UndoPreview } from '../types.gen'
import { Undo } from './undo.svelte'

const file = (path: string, more: Partial<UndoFile> = {}): UndoFile => ({
  path,
  effect: 'changes',
  restorable: true,
  seal: `seal of ${path}`,
  ...more,
})
const first: UndoPreview = {
  target: { turn: 2 },
  files: [
    file('a'),
    file('b'),
    file('c', { reason: 'changed', places: 1 }),
    file('d', { restorable: false, effect: 'nothing' }),
  ],
}

/** An undo whose calls are answered in order; what is an error is thrown. */
function start(...answers: unknown[]) {
  const calls: [string, unknown][] = []
  const undo = new Undo((async (method: string, args: unknown) => {
    calls.push([method, args])
    const answer = answers.shift()
    if (answer instanceof Error) throw answer
    return answer
  }) as Call)
  return { undo, calls }
}

const ask = { session: 's', target: {} }
const stale = new ApiError({ id: 'undo_stale', code: 'conflict', message: 'Changed.' })

test('OC-09: what has no conflict is chosen, and the rest of a file only by the user', async () => {
  const { undo, calls } = start(first, {})
  await undo.ask(ask)
  expect([...undo.chosen.keys()]).toEqual(['a', 'b'])
  undo.choose('a', undefined)
  undo.choose('c', { path: 'c', seal: 'seal of c', rest: true })
  expect(await undo.apply('files')).toBe(true)
  expect(undo.question).toBeUndefined()
  expect(calls.at(-1)).toEqual([
    'undo.apply',
    {
      session: 's',
      target: { turn: 2 },
      files: [
        { path: 'b', seal: 'seal of b' },
        { path: 'c', seal: 'seal of c', rest: true },
      ],
    },
  ])
})

test('a preview that has changed is shown again, and parts that were left out stay left out', async () => {
  const now = { ...first, files: [file('a'), file('b', { seal: 'new' }), file('e')] }
  const { undo, calls } = start(first, stale, now)
  await undo.ask(ask)
  undo.choose('a', undefined)
  expect(await undo.apply('files')).toBe(false)
  expect(undo.problem?.id).toBe('undo_stale')
  expect(calls.at(-1)).toEqual(['undo.preview', { session: 's', target: { turn: 2 } }])
  expect([...undo.chosen.values()]).toEqual([
    { path: 'b', seal: 'new' },
    { path: 'e', seal: 'seal of e' },
  ])
  expect(undo.working).toBe(false)
})

test('the reason why nothing can be undone takes precedence over a change of the files', async () => {
  const nothing = new ApiError({ id: 'undo_nothing', code: 'invalid', message: 'Nothing.' })
  const { undo } = start(first, stale, nothing)
  await undo.ask(ask)
  await undo.apply('files')
  expect(undo.problem?.id).toBe('undo_nothing')
  expect(undo.preview).toBeUndefined()
  expect(undo.chosen.size).toBe(0)
})

test('without a session nothing is asked, and an answer that comes too late is not shown', async () => {
  const { undo, calls } = start(first)
  await undo.ask({ session: '', target: { redo: true } })
  expect(calls).toEqual([])
  expect(undo.preview).toEqual({ target: { redo: true } })
  const asked = undo.ask(ask)
  undo.close()
  await asked
  expect(undo.preview).toBeUndefined()
})
