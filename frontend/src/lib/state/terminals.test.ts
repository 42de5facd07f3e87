import { expect, test, vi } from 'vitest'
import { ApiError, type Call } from '../api'
import { Terminals } from './terminals.svelte'

const answering = (answers: Record<string, (args: never) => unknown>) =>
  vi.fn(async (method: string, args: unknown) => answers[method]?.(args as never) ?? {}) as Call &
    ReturnType<typeof vi.fn>

const info = (id: string) => ({ id, number: 1, shell: 'sh', folder: '/p' })

test('typed text keeps its order, with one call at a time', async () => {
  const release: (() => void)[] = []
  const texts: string[] = []
  const call = answering({
    'terminal.write': ({ text }: { text: string }) => {
      texts.push(text)
      return new Promise<object>((resolve) => release.push(() => resolve({})))
    },
  })
  const terminals = new Terminals(call)
  const typed = terminals.type('a', 'l')
  void terminals.type('a', 's')
  void terminals.type('a', '\r')
  expect(texts).toEqual(['l'])
  release.shift()!()
  await vi.waitFor(() => expect(texts).toEqual(['l', 's\r']))
  release.shift()!()
  await typed
})

test('a piece is asked for once the one before it was drawn, from where that ended', async () => {
  const asked: number[] = []
  const call = answering({
    'terminal.list': () => ({ terminals: [info('a')] }),
    'terminal.read': ({ from }: { from: number }) => {
      asked.push(from)
      return from < 8
        ? { data: 'YWJjZA==', next: from + 4 }
        : { next: 8, ended: true, exit_code: 3 }
    },
  })
  const terminals = new Terminals(call)
  await terminals.load()
  let drawn = 0
  await terminals.follow(
    'a',
    0,
    async ({ next }) => {
      expect(asked.at(-1)).toBeLessThanOrEqual(next)
      drawn++
    },
    new AbortController().signal,
  )
  expect(asked).toEqual([0, 4, 8])
  expect(drawn).toBe(3)
  expect(terminals.list).toMatchObject([{ id: 'a', ended: true, exit_code: 3 }])
})

test('a terminal that another page closed is gone here as well', async () => {
  const call = answering({
    'terminal.list': () => ({ terminals: [info('a'), info('b')] }),
    'terminal.read': () => {
      throw new ApiError({ id: 'terminal_gone', message: 'This terminal is closed.' })
    },
  })
  const terminals = new Terminals(call)
  await terminals.load()
  expect(terminals.shown).toBe('b')
  await terminals.follow('b', 0, async () => {}, new AbortController().signal)
  expect(terminals.list?.map(({ id }) => id)).toEqual(['a'])
  expect(terminals.shown).toBe('a')
})
