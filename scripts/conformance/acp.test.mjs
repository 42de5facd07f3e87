// The client of the Agent Client Protocol that its makers publish, against atelier acp.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { test } from 'node:test'

const bin = join(import.meta.dirname, '../../build/bin', `atelier-headless${process.platform === 'win32' ? '.exe' : ''}`)
const library = join(import.meta.dirname, 'node_modules/@agentclientprotocol/sdk/package.json')
const missing = ![bin, library].every(existsSync) && 'the packages of scripts/conformance or the program are missing: scripts/setup.sh test, scripts/build.sh headless'

test('an editor', { skip: missing }, async (t) => {
  const { client, methods, ndJsonStream, PROTOCOL_VERSION } = await import('@agentclientprotocol/sdk')
  const home = await mkdtemp(join(tmpdir(), 'atelier-acp-'))
  const folder = await mkdtemp(join(tmpdir(), 'atelier-acp-project-'))
  const { PATH } = process.env
  const program = spawn(bin, ['acp'], { env: { PATH, HOME: home, ATELIER_HOME: join(home, 'data') }, stdio: ['pipe', 'pipe', 'inherit'] })
  t.after(async () => {
    program.kill()
    for (const dir of [home, folder]) await rm(dir, { recursive: true, force: true, maxRetries: 5 })
  })
  const told = []
  const asked = []
  const connection = client({ name: 'conformance' })
    .onNotification(methods.client.session.update, ({ params }) => void told.push(params.update))
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      asked.push(params)
      return { outcome: { outcome: 'selected', optionId: params.options[0].optionId } }
    })
    .connect(ndJsonStream(Writable.toWeb(program.stdin), Readable.toWeb(program.stdout)))
  const agent = connection.agent
  const hello = await agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION, clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true }, clientInfo: { name: 'conformance', version: '1' },
  })
  assert.equal(hello.protocolVersion, 1)
  assert.equal(hello.agentCapabilities.loadSession, true)
  const began = await agent.request(methods.agent.session.new, { cwd: folder, mcpServers: [] })
  const { sessionId } = began
  const model = await agent.request(methods.agent.session.setConfigOption, { sessionId, configId: 'model', value: 'demo/tour' })
  assert.equal(model.configOptions.find(({ id }) => id === 'model').currentValue, 'demo/tour')
  const { stopReason } = await agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text: 'Show me around.' }] })
  assert.equal(stopReason, 'end_turn')
  const kinds = new Set(told.map(({ sessionUpdate }) => sessionUpdate))
  for (const kind of ['agent_message_chunk', 'tool_call', 'tool_call_update', 'available_commands_update']) assert.ok(kinds.has(kind), `${kind} is missing of ${[...kinds]}`)
  const { sessions } = await agent.request(methods.agent.session.list, { cwd: folder })
  assert.ok(sessions.some((one) => one.sessionId === sessionId))
  await agent.request(methods.agent.session.close, { sessionId })
  told.length = 0
  await agent.request(methods.agent.session.load, { sessionId, cwd: folder, mcpServers: [] })
  assert.ok(told.some(({ sessionUpdate }) => sessionUpdate === 'user_message_chunk'))
  program.stdin.end()
  const code = await new Promise((done) => program.once('exit', done))
  assert.equal(code, 0)
})
