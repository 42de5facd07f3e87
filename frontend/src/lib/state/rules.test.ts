import { expect, test } from 'vitest'
import type { Call } from '../api'
import { Rules } from './rules.svelte'

test('files that wait to be accepted or cannot be read are counted, and read again when rules change', async () => {
  let files: unknown[] = []
  const asked: string[] = []
  const rules = new Rules((async (method: string) => {
    asked.push(method)
    return { files }
  }) as unknown as Call)
  let paint = () => {}
  rules.follow('s', new Promise<void>((done) => (paint = done)))
  expect(asked).toEqual([])
  paint()
  await expect.poll(() => rules.loaded).toBe(true)
  expect(rules.waiting).toBe(0)

  files = [
    { path: 'a', scope: 'user' },
    { path: 'b', scope: 'project', sandbox: '{}' },
    { path: 'c', scope: 'local', unaccepted: 2 },
    { path: 'd', scope: 'local', problem: { id: 'settings' } },
  ]
  rules.receive({ session: '', seq: 0, events: [{ kind: 'skills_change' }] } as never)
  rules.receive({ session: '', seq: 0, events: [{ kind: 'rules_change' }] } as never)
  await expect.poll(() => rules.waiting).toBe(3)
  expect(asked).toEqual(['permissions.rules', 'permissions.rules'])
})
