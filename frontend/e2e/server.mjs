/** A small MCP server over stdio, without any library: a tool that echoes, one that asks, one that dies, and a prompt. */
import { createInterface } from 'node:readline'

const send = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const text = (words) => ({ content: [{ type: 'text', text: words }] })
const words = { type: 'object', properties: { words: { type: 'string' } }, required: ['words'] }
const tools = [
  { name: 'echo', description: 'Repeats words\u202e.', inputSchema: words },
  { name: 'ask', description: 'Asks the person for a colour.', inputSchema: { type: 'object' } },
  { name: 'die', description: 'Ends the server.', inputSchema: { type: 'object' } },
]
const prompts = [
  { name: 'greet', description: 'Greets somebody', arguments: [{ name: 'who', required: true }] },
]
const colour = {
  type: 'object',
  properties: { colour: { type: 'string', title: 'Colour', enum: ['red', 'blue'] } },
  required: ['colour'],
}
/** The calls that wait for an answer, by the id of the question. */
const asked = new Map()

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {}, prompts: {} },
    serverInfo: { name: 'paint', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools }),
  'prompts/list': () => ({ prompts }),
  'prompts/get': ({ arguments: { who } }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Please greet ${who}.` } }],
  }),
  'tools/call': ({ name, arguments: given }, id) => {
    if (name === 'die') process.exit(3)
    if (name === 'echo') return text(given.words)
    asked.set(`q${id}`, id)
    const params = { message: 'Which colour do you want?', requestedSchema: colour }
    send({ id: `q${id}`, method: 'elicitation/create', params })
    return undefined
  },
}

console.error('paint is ready')
createInterface(process.stdin).on('line', (line) => {
  const { id, method, params = {}, result: answer } = JSON.parse(line)
  if (method === undefined) {
    const call = asked.get(id)
    if (call !== undefined) send({ id: call, result: text(`It is ${JSON.stringify(answer)}`) })
    return
  }
  if (id === undefined) return
  const handle = methods[method]
  if (!handle) return send({ id, error: { code: -32601, message: 'Method not found' } })
  const result = handle(params, id)
  if (result) send({ id, result })
})
