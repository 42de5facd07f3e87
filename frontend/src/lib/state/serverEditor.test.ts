import { expect, test, vi } from 'vitest'
import type { Call } from '../api'
import type { ServerRow, ServerTestReply } from '../types.gen'
import { ServerEditor } from './serverEditor.svelte'
import { ServerImports } from './serverImports.svelte'

const row: ServerRow = {
  ...{
    name: 'a',
    state: 'connected',
    auth: {},
    peer: {},
    health: {},
    counts: { tools: 0, tokens: 0 },
  },
  ...{ origin: { scope: 'local' as const } },
  draft: { name: 'a', transport: 'stdio', command: 'x', env: { KEY: '' }, options: {} },
}

test('a secret that is kept stays unless another is typed', async () => {
  const call = vi.fn(async () => ({}))
  const editor = new ServerEditor(call as unknown as Call, row)
  await editor.save()
  editor.setValue(0, { value: 'hunter2' })
  await editor.save()
  const sent = call.mock.calls.map((args) => (args as unknown[])[1])
  expect(sent).toMatchObject([
    { draft: { env: { KEY: '' } }, scope: 'local', replaces: 'a' },
    { draft: { env: { KEY: '' }, secrets: { KEY: 'hunter2' } }, replaces: 'a' },
  ])
  expect(sent[0]).not.toHaveProperty('draft.secrets')
})

test('the result of a test is dropped once something else is written', async () => {
  let answer: (reply: ServerTestReply) => void = () => {}
  const call = () => new Promise<ServerTestReply>((resolve) => (answer = resolve))
  const editor = new ServerEditor(call as unknown as Call, row)
  const testing = editor.test()
  editor.change({ command: 'y' })
  answer({ peer: {} })
  await testing
  expect(editor.tested).toBeUndefined()
  expect(editor.testing).toBe(false)
})

test('a pasted definition keeps what looks like a key in the keyring', () => {
  const editor = new ServerEditor((() => {}) as unknown as Call)
  expect(editor.paste('npx')).toBe(false)
  expect(editor.paste('{"hub": {"command": "x", "env": {"API_KEY": "1", "MODE": "2"}}}')).toBe(true)
  expect(editor.fields).toMatchObject({ name: 'hub', command: 'x' })
  expect(editor.fields.values.map(({ secret }) => secret)).toEqual([true, false])
})

test('chosen servers are imported with the values that their files ask for', async () => {
  const server = (name: string, ...ids: string[]) => ({
    draft: { name, transport: 'stdio', options: {} },
    inputs: ids.map((id) => ({ id })),
  })
  const source = { program: 'VS Code', path: '/x', servers: [server('a', 'k'), server('b', 'k')] }
  const call = vi.fn(async () => ({ sources: [source] }))
  const imports = new ServerImports(call as unknown as Call)
  await imports.load()
  for (const each of source.servers) imports.choose(source, each, true)
  expect(imports.asked(source)).toEqual([{ id: 'k' }])
  imports.inputs.set('/x\nk', 'v')
  expect(await imports.import()).toBe(2)
  expect((call.mock.lastCall as unknown[])[1]).toEqual({
    ...{ path: '/x', names: ['a', 'b'], scope: 'user', seal: '', inputs: { k: 'v' } },
  })
  expect(imports.count).toBe(0)
})
