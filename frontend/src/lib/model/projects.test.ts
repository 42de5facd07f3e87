import { expect, test } from 'vitest'
import type { RecentProject } from '../types.gen'
import { matching, parentOf } from './projects'

const project = (path: string, branch?: string): RecentProject => ({
  folder: path.replace('~', '/home/me'),
  name: path.split('/').at(-1)!,
  path,
  ...(branch && { branch }),
  opened: 1,
})
const all = [project('~/src/shop', 'main'), project('~/src/Shop-api', 'dev'), project('/srv/tests')]

test.each([
  ['', ['shop', 'Shop-api', 'tests']],
  ['  SHOP ', ['shop', 'Shop-api']],
  ['shop main', ['shop']],
  ['src api', ['Shop-api']],
  ['/srv', ['tests']],
  ['home', []],
])('%s finds %j', (wanted, names) => {
  expect(matching(all, wanted).map(({ name }) => name)).toEqual(names)
})

test.each([
  ['~/src/shop', '~/src/'],
  ['~/src/', '~/src/'],
  ['/', '/'],
  ['shop', ''],
])('the parent of %s is %j', (path, parent) => expect(parentOf(path)).toBe(parent))
