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

test('a scope that is chosen while the folder is read has it read again', async () => {
  const answers: (() => void)[] = []
  const call = vi.fn(
    () => new Promise((resolve) => answers.push(() => resolve(found))) as Promise<typeof found>,
  )
  const install = new SkillInstall(call as unknown as Call)
  install.path = '/x'
  const inspected = install.inspect()
  await install.move('project')
  answers[0]!()
  await vi.waitFor(() => expect(answers).toHaveLength(2))
  expect(install.found).toBeUndefined()
  answers[1]!()
  await inspected
  expect(call).toHaveBeenLastCalledWith('skills.inspect', { path: '/x', scope: 'project' })
  expect(install.found).toBe(found)
})
