import { expect, test } from 'vitest'
import type { SessionInfo } from '../types.gen'
import { currentTodo, keptAt, progressOf, todosOf, todoText } from './todos'

const list = (...statuses: string[]) =>
  todosOf({
    tasks: statuses.map((status, at) => ({
      id: `${at}`,
      content: `t${at}`,
      active: `a${at}`,
      status,
    })),
  })

test.each([undefined, null, 'x', {}, { tasks: 3 }])('%j has no tasks', (state) =>
  expect(todosOf(state)).toEqual([]),
)

test.each<[string[], string, number, number]>([
  [[], '', 0, 0],
  [['pending', 'pending'], 't0', 0, 2],
  [['completed', 'in_progress', 'pending'], 'a1', 1, 3],
  [['pending', 'in_progress'], 'a1', 0, 2],
  [['completed', 'cancelled'], '', 1, 1],
  [['strange'], 't0', 0, 1],
])('%j is at %j', (statuses, now, done, of) => {
  const todos = list(...statuses)
  const current = currentTodo(todos)
  expect(current ? todoText(current) : '').toBe(now)
  expect(progressOf(todos)).toEqual({ done, of })
})

test('after a rewind what held before it holds', () => {
  const session = {
    kept: [
      { tool: 'TodoWrite', seq: 4, line: 'first' },
      { tool: 'ExitPlanMode', seq: 6 },
      { tool: 'TodoWrite', seq: 8, line: 'second' },
    ],
  } as unknown as SessionInfo
  expect(keptAt(session, 'TodoWrite')?.line).toBe('second')
  const span = { id: 'r', from: 5, to: 10 }
  expect(keptAt({ ...session, rewound: [span] }, 'TodoWrite')?.line).toBe('first')
  expect(keptAt({ ...session, rewound: [span] }, 'ExitPlanMode')).toBeUndefined()
  expect(keptAt({} as SessionInfo, 'TodoWrite')).toBeUndefined()
})
