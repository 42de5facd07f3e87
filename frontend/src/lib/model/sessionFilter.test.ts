import { expect, test } from 'vitest'
import type { SessionMarks } from '../types.gen'
import { readFilter, selects } from './sessionFilter'
import { sessionInfo } from './testing'

test.each([
  ['', {}],
  [' fix  login ', { text: 'fix login' }],
  ['#API login', { text: 'login', tag: 'api' }],
  ['#a #b', { text: '#b', tag: 'a' }],
  ['#', { text: '#' }],
])('%o is read as %o', (typed, want) => {
  expect(readFilter(typed, '')).toEqual(want)
  expect(readFilter(typed, 'archived')).toEqual({ view: 'archived', ...want })
})

const family = (marks: SessionMarks, title = 'Fix the LOGIN') => ({
  session: sessionInfo('a', { title, prompt: 'please über', marks }),
  agents: [sessionInfo('b', { title: 'Look into it' })],
})

test.each([
  [{}, {}, true],
  [{}, { archived: true }, false],
  [{}, { deleted: 5 }, false],
  [{ view: 'archived' }, { archived: true }, true],
  [{ view: 'archived' }, { archived: true, deleted: 5 }, false],
  [{ view: 'deleted' }, { archived: true, deleted: 5 }, true],
  [{ view: 'deleted' }, {}, false],
  [{ text: 'login' }, {}, true],
  [{ text: 'ÜBER' }, {}, true],
  [{ text: 'into' }, {}, true],
  [{ text: 'branch' }, { label: 'My branch' }, true],
  [{ text: 'other' }, {}, false],
  [{ tag: 'api' }, { tags: ['api'] }, true],
  [{ tag: 'ap' }, { tags: ['api'] }, false],
] as const)('the filter %o of a session marked %o: %s', (filter, marks, want) => {
  expect(selects(filter, family(marks as SessionMarks))).toBe(want)
})
