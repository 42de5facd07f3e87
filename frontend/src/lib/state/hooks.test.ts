import { expect, test } from 'vitest'
import { ApiError, type Call } from '../api'
import { Hooks } from './hooks.svelte'

test('the editor of a hook opens once its points are known, and what fails is said', async () => {
  const problem = new ApiError({ code: 'x', message: 'No.' })
  let fails = true
  const call = async (method: string) => {
    if (fails) throw problem
    return method === 'hooks.points' ? { points: [{ point: 'turn_end' }] } : {}
  }
  const hooks = new Hooks(call as unknown as Call)
  await hooks.write()
  expect([hooks.problem, hooks.editor]).toEqual([problem, undefined])
  fails = false
  await hooks.write()
  expect(hooks.problem).toBeNull()
  expect(hooks.editor).toBeDefined()
})
