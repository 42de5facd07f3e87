import { expect, test, vi } from 'vitest'
import type { Call } from '../api'
import type { ToolEntry } from '../model/entries'
import type { Event, TaskChange, TaskInfo } from '../types.gen'
import { Tasks } from './tasks.svelte'

const info = (id: string, change: Partial<TaskInfo> = {}): TaskInfo => ({
  session: 'a',
  id,
  command: `run ${id}`,
  folder: '/shop',
  started_at: 1000 * Number(id),
  state: 'running',
  ...change,
})
const ended = (id: string, at: number) => info(id, { state: 'exited', exit_code: 3, ended_at: at })

/** The tasks over a fake application that gives these replies. */
function tasksOver(answers: { list?: TaskInfo[]; stop?: () => Promise<TaskInfo> }) {
  const calls: string[] = []
  const printed = { text: '', begin: 0, end: 0 }
  const call = (async (method: string, args: { session?: string; from?: number }) => {
    calls.push(method)
    if (method === 'tasks.stop') return answers.stop!()
    if (method === 'tasks.output') {
      const from = Math.max(printed.begin, args.from ?? 0)
      return { text: printed.text.slice(from - printed.begin), begin: from, end: printed.end }
    }
    const tasks = answers.list?.filter((task) => !args.session || task.session === args.session)
    return { tasks }
  }) as unknown as Call
  const problems: string[] = []
  const tasks = new Tasks(call, (problem) => problems.push(problem.message), vi.fn())
  const tell = (data: TaskChange, session = 'a') => {
    const event: Event = { session_id: session, at: 5, kind: 'task_change', data }
    tasks.receive({ session, seq: 0, events: [event] })
    return settled()
  }
  /** Prints text, of which only the last characters are kept. */
  const print = (text: string, kept = Infinity) => {
    const all = printed.text + text
    printed.end += text.length
    printed.text = all.slice(-kept)
    printed.begin = printed.end - printed.text.length
  }
  return { tasks, calls, problems, tell, print }
}

const settled = () => new Promise((resolve) => setTimeout(resolve))
const states = (tasks: Tasks, session = 'a') =>
  tasks.of([session]).map(({ id, state }) => `${id} ${state}`)

// OAS-306
test('running tasks come first, then those that ended last', async () => {
  const list = [ended('1', 9000), info('2'), ended('3', 8000), info('4')]
  const { tasks } = tasksOver({ list: [...list, info('7', { session: 'b' })] })
  await tasks.load()
  expect(states(tasks)).toEqual(['4 running', '2 running', '1 exited', '3 exited'])
  expect(tasks.running(['a'])).toBe(2)
  expect(tasks.running(['a', 'b'])).toBe(3)
})

// OAS-306
test('the list is read again when a task starts or ends', async () => {
  const answers = { list: [info('1')] }
  const { tasks, tell } = tasksOver(answers)
  await tell({ task: '1' })
  expect(states(tasks)).toEqual(['1 running'])
  answers.list = [ended('1', 9000)]
  await tell({ task: '1' })
  expect(states(tasks)).toEqual(['1 exited'])
})

test.each(['told', 'listed', 'lost'])(
  'tasks that end with their session stay (%s)',
  async (how) => {
    const answers = { list: [info('1'), ended('2', 9000)] }
    const { tasks, tell } = tasksOver(answers)
    await tasks.load()
    answers.list = []
    if (how === 'told') await tell({})
    else if (how === 'listed') await tasks.load()
    else tasks.lose()
    expect(states(tasks)).toEqual(['1 session_ended', '2 exited'])
    expect(tasks.running(['a'])).toBe(0)
    // The numbering starts again.
    answers.list = [info('1', { started_at: Date.now() + 1000 })]
    await tell({ task: '1' })
    expect(states(tasks)).toEqual(['1 running', '1 session_ended', '2 exited'])
  },
)

test('a task that still runs after a lost connection is shown as running', async () => {
  const { tasks } = tasksOver({ list: [info('1')] })
  await tasks.load()
  tasks.lose()
  await tasks.load()
  expect(states(tasks)).toEqual(['1 running'])
})

test('a call belongs to the task that had the id at that time', async () => {
  const call = (task: string | undefined, startedAt: number) =>
    ({ startedAt, durationMs: 10, details: { command: { exit_code: 0, task } } }) as ToolEntry
  const answers = { list: [info('1')] }
  const { tasks, tell } = tasksOver(answers)
  await tasks.load()
  await tell({})
  answers.list = [info('1', { started_at: 60_000 })]
  await tasks.load()
  expect(tasks.ofCall('a', call('1', 990))?.state).toBe('session_ended')
  expect(tasks.ofCall('a', call('1', 59_900))?.state).toBe('running')
  expect(tasks.ofCall('a', call('2', 59_900))).toBeUndefined()
  expect(tasks.ofCall('a', call(undefined, 59_900))).toBeUndefined()
  expect(tasks.ofCall('b', call('1', 59_900))).toBeUndefined()
})

// OAS-317
test('a task is marked as stopping until it has ended', async () => {
  let end: (task: TaskInfo) => void = () => {}
  const { tasks, calls } = tasksOver({
    list: [info('1')],
    stop: () => new Promise((resolve) => (end = resolve)),
  })
  await tasks.load()
  const stopping = tasks.stop(tasks.of(['a'])[0]!)
  expect(tasks.isStopping(tasks.of(['a'])[0]!)).toBe(true)
  end(info('1', { state: 'stopped', ended_at: 9000 }))
  await stopping
  expect(states(tasks)).toEqual(['1 stopped'])
  expect(tasks.isStopping(tasks.of(['a'])[0]!)).toBe(false)
  expect(calls).toEqual(['tasks.list', 'tasks.stop'])
})

test('a stop that fails is reported', async () => {
  const answers = { list: [info('1')], stop: () => Promise.reject(new Error('no')) }
  const { tasks, problems } = tasksOver(answers)
  await tasks.load()
  await tasks.stop(tasks.of(['a'])[0]!)
  expect(states(tasks)).toEqual(['1 running'])
  expect(problems).toHaveLength(1)
})

test('output is only read while it is shown', async () => {
  const { tasks, calls, tell, print } = tasksOver({ list: [info('1')] })
  await tasks.load()
  const tail = tasks.tail(tasks.of(['a'])[0]!)
  print('first\n')
  await tell({ task: '1', printed: true })
  expect(calls).toEqual(['tasks.list'])
  const leave = tail.follow()
  await settled()
  print('second\n')
  await tell({ task: '1', printed: true })
  expect(tail.text).toBe('first\nsecond\n')
  expect(tail.isCut).toBe(false)
  leave()
  print('third\n')
  await tell({ task: '1', printed: true })
  expect(tail.text).toBe('first\nsecond\n')
})

test('output that is printed faster than it is read skips ahead and is cut', async () => {
  const { tasks, tell, print } = tasksOver({ list: [info('1')] })
  await tasks.load()
  const tail = tasks.tail(tasks.of(['a'])[0]!)
  tail.follow()
  await settled()
  print('before\n')
  print('lost\n'.repeat(9000) + 'kept\n'.repeat(2), 12)
  await tell({ task: '1', printed: true })
  expect(tail.text).toBe('kept\nkept\n')
  expect(tail.isCut).toBe(true)
  print('0123456789\n'.repeat(9000))
  await tell({ task: '1', printed: true })
  expect(tail.text.length).toBeLessThanOrEqual(32_000)
  expect(tail.text.startsWith('0123456789\n')).toBe(true)
})

test('the output of an ended task is not mixed with that of the next task with its id', async () => {
  const answers = { list: [info('1')] }
  const { tasks, tell, print } = tasksOver(answers)
  await tasks.load()
  const before = tasks.tail(tasks.of(['a'])[0]!)
  before.follow()
  print('before\n')
  await tell({ task: '1', printed: true })
  answers.list = [info('1', { started_at: 60_000 })]
  await tell({ task: '1' })
  print('after\n')
  before.follow()
  await tell({ task: '1', printed: true })
  expect(before.text).toBe('before\n')
  const after = tasks.tail(tasks.of(['a'])[0]!)
  after.follow()
  await settled()
  expect(after.text).toContain('after\n')
})

test('output that was printed while the connection was lost is read later', async () => {
  const { tasks, print } = tasksOver({ list: [info('1')] })
  await tasks.load()
  const tail = tasks.tail(tasks.of(['a'])[0]!)
  tail.follow()
  tasks.lose()
  print('meanwhile\n')
  await settled()
  expect(tail.text).toBe('')
  await tasks.load()
  await settled()
  expect(tail.text).toBe('meanwhile\n')
})

test('the number of kept tasks is limited', async () => {
  const answers = { list: [info('1')] }
  const { tasks, tell } = tasksOver(answers)
  for (let n = 1; n <= 80; n++) {
    answers.list = [ended(`${n}`, n)]
    await tell({ task: `${n}` })
  }
  expect(states(tasks)).toHaveLength(64)
  expect(states(tasks).at(-1)).toBe('17 exited')
})
