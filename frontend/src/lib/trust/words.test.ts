import { expect, test } from 'vitest'
import type { TrustRow } from '../types.gen'
import { asking } from './words'

const item = (scope: TrustRow['scope'], state: TrustRow['state'] = 'unknown', kind = 'hook') => ({
  kind,
  scope,
  state,
})

test('the strip says whose programs want to run', () => {
  const who = (...items: ReturnType<typeof item>[]) => asking(items, false)
  expect(who(item('project'), item('local'))).toEqual({ who: 'new_ones', until: 'until' })
  expect(who(item('user'))).toEqual({ who: 'own_ones', until: 'until_changed' })
  expect(who(item('user', 'unknown', 'server'))).toEqual({ who: 'own_ones', until: 'until' })
  expect(who(item('user'), item('project'))).toEqual({ who: 'mixed_ones', until: 'until' })
  expect(who(item('user', 'changed'))).toEqual({ who: 'changed_ones', until: 'until_changed' })
  expect(who(item('project', 'changed', 'server'))).toEqual({ who: 'changed_ones', until: 'until' })
  expect(asking([item('project')], true).who).toBe('more_ones')
})
