// The server scenarios of the official suite: against `atelier mcp serve` what every server
// has to do, and against a server of test tools that is made in the same way what a tool's
// results look like. Atelier offers tools and nothing else, so the scenarios about resources,
// prompts, sampling, tasks and logs, and those that call tools which ask for values of their
// own, have nothing to test.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { checked, faults, missing, run } from './suite.mjs'

const bin = join(import.meta.dirname, '../../build/bin')
const exe = process.platform === 'win32' ? '.exe' : ''

const atelier = [
  'server-initialize', 'server-session-lifecycle', 'server-stateless', 'ping', 'tools-list', 'server-sse-multiple-streams',
  'dns-rebinding-protection', 'caching', 'http-header-validation', 'input-required-result-unsupported-methods', 'input-required-result-validate-input',
]
const tools = [
  'tools-call-simple-text', 'tools-call-image', 'tools-call-audio', 'tools-call-embedded-resource', 'tools-call-mixed-content',
  'tools-call-error', 'tools-call-with-progress', 'json-schema-2020-12',
]

// Checks within those scenarios that need a resource, a prompt or a tool for tests.
const nothing = /Not testable|(prompts|resources) not supported/
// Checks that mcp-go 1.2.1 passes in most runs: a stream that subscribes to nothing ends at
// once, and then the notification before its end is lost if two goroutines meet.
const lost = /^sep-2575-server-(sends-subscription-ack|tags-subscription-id): .*"resultType":"complete"/

test('atelier mcp serve', { skip: missing }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'served-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const args = ['mcp', 'serve', '--http', folder]
  await serves(t, join(bin, `atelier-headless${exe}`), args, { ATELIER_HOME: join(folder, 'home') }, atelier)
})

test('the results of tools', { skip: missing }, (t) => serves(t, join(bin, `conformance-server${exe}`), [], {}, tools))

test("the SDK's own client", { skip: missing }, async (t) => {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js')
  const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js')
  const { ElicitRequestSchema } = await import('@modelcontextprotocol/sdk/types.js')
  const folder = await mkdtemp(join(tmpdir(), 'served-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'a.txt'), 'alpha\n')
  const client = new Client({ name: 'sdk', version: '1' }, { capabilities: { elicitation: {} } })
  const asked = []
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    asked.push(params.message)
    return { action: 'accept', content: { decision: 'allow' } }
  })
  const env = { ...process.env, ATELIER_HOME: join(folder, 'home') }
  await client.connect(new StdioClientTransport({ command: join(bin, `atelier-headless${exe}`), args: ['mcp', 'serve', folder], env }))
  const { tools: offered } = await client.listTools()
  for (const name of ['Read', 'Bash', 'run_agent']) assert.ok(offered.some((tool) => tool.name === name), `${name} is not offered`)
  const read = await client.callTool({ name: 'Read', arguments: { file_path: 'a.txt' } })
  assert.match(read.content[0].text, /alpha/)
  const wrote = await client.callTool({ name: 'Write', arguments: { file_path: 'b.txt', content: 'beta\n' } })
  assert.ok(!wrote.isError, JSON.stringify(wrote))
  assert.equal(await readFile(join(folder, 'b.txt'), 'utf8'), 'beta\n')
  assert.match(asked.join(), /b\.txt/)
  await client.close()
})

/** Starts a server, and runs scenarios against it. */
async function serves(t, program, args, env, wanted) {
  const server = spawn(program, args, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'inherit'] })
  t.after(() => server.kill())
  const lines = createInterface(server.stdout)[Symbol.asyncIterator]()
  const address = (await lines.next()).value
  const token = (await lines.next()).value.replace('Authorization: ', '')
  const through = await authorised(t, address, token)
  const results = await run(['server', '--url', through, '--suite', 'all'])
  for (const name of wanted) {
    await t.test(name, () => {
      const result = results.get(name)
      assert.ok(result, 'the suite did not run it')
      assert.deepEqual(faults(result).filter((fault) => !nothing.test(fault) && !lost.test(fault)), [])
      assert.ok(checked(result), 'the suite checked nothing')
    })
  }
}

/** Returns an address that adds the token, which the suite cannot send. */
async function authorised(t, address, token) {
  const to = new URL(address)
  const proxy = createServer((req, res) => {
    const headers = { ...req.headers, authorization: token }
    const up = request({ host: to.hostname, port: to.port, path: req.url, method: req.method, headers }, (answer) => {
      res.writeHead(answer.statusCode, answer.headers)
      answer.pipe(res)
    })
    up.on('error', () => res.destroy())
    res.on('close', () => up.destroy())
    req.pipe(up)
  })
  await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  t.after(() => proxy.closeAllConnections() ?? proxy.close())
  return `http://127.0.0.1:${proxy.address().port}${to.pathname}`
}
