import { expect, test } from 'vitest'
import type { Call } from '../api'
import { Resource } from './resource.svelte'

/** A list of a session, read and changed through a call that the test answers. */
class List extends Resource {
  rows: readonly string[] = []
  of: string | undefined = 'a'

  readonly load = this.reading(
    () => (this.of ? (this.call as unknown as Read)(this.of) : undefined),
    (rows) => (this.rows = rows),
    () => this.of,
  )

  add = (work: () => Promise<unknown>) => this.change(work)
}

type Read = (of: string) => Promise<string[]>

const list = (read: Read) => new List(read as unknown as Call)
const refuse = () => Promise.reject(new Error('no'))

test('what is read is taken, and a failure is said until it can be read', async () => {
  let isDown = true
  const it = list((of) => (isDown ? refuse() : Promise.resolve([of])))
  await it.load()
  expect(it.loaded).toBe(false)
  expect(it.trouble).toBe(it.failure)
  expect(it.failure).not.toBeNull()
  isDown = false
  await it.load()
  expect([it.loaded, it.failure, it.rows]).toEqual([true, null, ['a']])
})

test('a reply about something else is dropped, and nothing is read without a subject', async () => {
  const answers: ((rows: string[]) => void)[] = []
  const it = list(() => new Promise((resolve) => answers.push(resolve)))
  const first = it.load()
  it.of = 'b'
  answers[0]!(['of a'])
  await first
  expect([it.loaded, it.rows]).toEqual([false, []])
  it.of = undefined
  await it.load()
  expect(answers).toHaveLength(1)
})

test('a change is followed by a reading, also when it was refused', async () => {
  let reads = 0
  const it = list(() => Promise.resolve([String(++reads)]))
  const done = it.add(() => Promise.resolve())
  expect(it.busy).toBe(true)
  expect(await done).toBe(true)
  expect([it.rows, it.busy, it.problem]).toEqual([['1'], false, null])
  expect(await it.add(refuse)).toBe(false)
  expect([it.rows, it.busy]).toEqual([['2'], false])
  expect(it.problem).not.toBeNull()
  it.dismiss()
  expect(it.trouble).toBeNull()
})
