import { expect, test, vi } from 'vitest'
import type { Call } from '../api'
import { SkillInstall } from './skillInstall.svelte'

const found = {
  seal: 'x',
  skills: [
    { name: 'a', text: '' },
    { name: 'b', text: '', taken: true },
  ],
}

test('a skill that replaces another is installed only on purpose', async () => {
  const call = vi.fn(async () => found)
  const install = new SkillInstall(call as unknown as Call)
  install.path = ' /x '
  await install.inspect()
  expect(found.skills.map(install.has)).toEqual([true, false])
  expect(install.ready).toBe(true)
  install.choose(found.skills[1]!, true)
  expect([install.takes, install.ready]).toEqual([true, false])
  install.replace = true
  expect(await install.install()).toBe(2)
  expect(call).toHaveBeenLastCalledWith('skills.install', {
    ...{ path: '/x', scope: 'user', names: ['a', 'b'], seal: 'x', replace: true },
  })
})

test('another path is looked into before anything is installed', async () => {
  const install = new SkillInstall((async () => found) as unknown as Call)
  install.path = '/x'
  await install.inspect()
  install.path = '/y'
  expect(install.found).toBeUndefined()
  expect(await install.install()).toBe(0)
})
