import { render, screen } from '@testing-library/svelte'
import { expect, test } from 'vitest'
import type { Call } from '../api'
import { Changes } from '../state/changes.svelte'
import type { CodeFault } from '../types.gen'
import FaultList from './FaultList.svelte'
import FileRow from './FileRow.svelte'

const faults: CodeFault[] = [
  { path: 'a.go', line: 3, message: 'undefined: one' },
  { path: 'a.go', line: 7, warning: true, message: 'unused' },
]
const nothing = () => {}

test('OAS-326: a changed file says what its language server finds wrong', () => {
  render(FileRow, {
    file: { path: 'a.go', state: 'modified', added: 1, removed: 0, staged: 'none' },
    ...{ faults, open: false, busy: false, ontoggle: nothing, onedit: nothing },
  })
  screen.getByRole('button', { name: /1 error · 1 warning/ })
  render(FaultList, { faults })
  expect(screen.getAllByRole('listitem').map(({ textContent }) => textContent.trim())).toEqual([
    'error line 3 undefined: one',
    'warning line 7 unused',
  ])
})

test('servers are asked about the files that are still there, and one that fails says nothing', async () => {
  const asked: unknown[] = []
  let fails = false
  const file = { state: 'modified', added: 1, removed: 0, staged: 'none' }
  const call = async (method: string, args: unknown) => {
    if (method === 'changes.list')
      return {
        files: [
          { ...file, path: 'a.go' },
          { ...file, path: 'b.go', state: 'deleted' },
        ],
      }
    asked.push(args)
    if (fails) throw new Error('no')
    return { faults }
  }
  const changes = new Changes(call as Call)
  changes.follow('s1', '/shop')
  await changes.load()
  await changes.examine()
  expect(asked).toEqual([{ session: 's1', paths: ['a.go'] }])
  expect(changes.faults.of('a.go')).toEqual(faults)
  expect(changes.faults.of('b.go')).toEqual([])
  fails = true
  await changes.examine()
  expect(changes.faults.of('a.go')).toEqual([])
})
