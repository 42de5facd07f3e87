import { expect, test } from 'vitest'
import { ApiError, type Call } from '../api'
import type { BlameReply } from '../types.gen'
import { stepOf } from '../model/blame'
import { Files } from './files.svelte'

const step = (call: string) =>
  ({ session: 's', title: '', seq: 1, at: 1, kind: 'tool_call_end', call, made: {} }) as const

const pages: Record<number, BlameReply> = {
  0: {
    path: 'f',
    total: 2,
    runs: [{ from: 1, to: 1, by: 'step' }],
    steps: [step('one')],
    texts: ['a'],
    next: 2,
  },
  2: {
    path: 'f',
    total: 2,
    runs: [{ from: 2, to: 2, by: 'step' }],
    steps: [step('two')],
    texts: ['b'],
  },
}

test('a long file is read part by part, and each line keeps its author', async () => {
  const files = new Files(
    (async (_: string, { from = 0 }: { from?: number }) => pages[from]) as Call,
  )
  await files.show('f')
  expect(files.file?.texts).toEqual(['a'])
  await files.more()
  expect(files.file?.texts).toEqual(['a', 'b'])
  expect(files.file?.next).toBeUndefined()
  expect(files.file?.runs?.map((run) => stepOf(files.file!, run)?.call)).toEqual(['one', 'two'])
})

test('a file that is shown is read again, and its disappearance is told', async () => {
  let reply: BlameReply | undefined = { path: 'f', total: 1, texts: ['a'] }
  const files = new Files((async () => {
    if (!reply) throw new ApiError({ message: 'f is no longer there.' })
    return reply
  }) as Call)
  await files.show('f')
  reply = { path: 'f', total: 1, texts: ['b'] }
  await files.look()
  expect(files.file?.texts).toEqual(['b'])
  reply = undefined
  await files.look()
  expect([files.file, files.problem?.message]).toEqual([undefined, 'f is no longer there.'])
})

test('the list that is shown again does not have a file that has gone', async () => {
  const replies: Record<string, unknown> = {
    'files.list': { files: ['f', 'g'] },
    'files.blame': { path: 'f', total: 0 },
  }
  const files = new Files((async (method: string) => replies[method]) as Call)
  await files.load()
  await files.show('f')
  replies['files.list'] = { files: ['g'] }
  await files.show()
  expect(files.list?.files).toEqual(['g'])
})

test('a file of which more was read stays when it is looked at again', async () => {
  const files = new Files(
    (async (_: string, { from = 0 }: { from?: number }) => pages[from]) as Call,
  )
  await files.show('f')
  await files.more()
  await files.look()
  expect(files.file?.texts).toEqual(['a', 'b'])
})

test('an answer about a file that was left is dropped', async () => {
  const waiting: ((page: BlameReply) => void)[] = []
  const files = new Files((() => new Promise((resolve) => waiting.push(resolve))) as Call)
  const [first, second] = [files.show('f'), files.show('g')]
  waiting[1]!({ path: 'g', total: 0 })
  waiting[0]!(pages[0]!)
  await Promise.all([first, second])
  expect(files.file?.path).toBe('g')
})

test('the files of a worktree take the place of the others, and what comes late is dropped', async () => {
  const waiting: [unknown, (reply: never) => void][] = []
  const files = new Files(
    ((_: string, args: unknown) => new Promise((resolve) => waiting.push([args, resolve]))) as Call,
  )
  const first = files.load()
  void files.show('f')
  const second = files.load('tree')
  expect(files.path).toBeUndefined()
  expect(waiting.map(([args]) => args)).toEqual([
    {},
    { path: 'f', texts: true },
    { session: 'tree' },
  ])
  waiting[2]![1]({ files: ['theirs'] } as never)
  waiting[0]![1]({ files: ['ours'] } as never)
  await Promise.all([first, second])
  expect(files.list?.files).toEqual(['theirs'])
})
