import { screen } from '@testing-library/svelte'
import { beforeEach, expect, test } from 'vitest'
import { setLanguage } from '../i18n/i18n.svelte'
import type { SessionInfo } from '../types.gen'
import { renderInApp } from '../ui/testing'
import SessionRow from './SessionRow.svelte'

beforeEach(() => setLanguage('en'))

test.each([true, undefined])('a session whose damage is %s is marked accordingly', (damaged) => {
  const session = { id: 's', title: 'T', updated_at: 1, damaged } as SessionInfo
  const nothing = () => {}
  renderInApp(SessionRow, {
    ...{ session, mark: 'rest', work: '', tasks: 0, current: false },
    ...{ onopen: nothing, items: [] },
  })
  expect(screen.queryByRole('img', { name: /was damaged/ }) !== null).toBe(damaged === true)
})
