// An agent that is written with the makers' library: it reads a file, asks for a permission,
// writes a file and runs a command, all through its client.
import { Readable, Writable } from 'node:stream'
import { agent, methods, ndJsonStream, PROTOCOL_VERSION } from '@agentclientprotocol/sdk'

let folder = ''
const { client: its } = methods
const app = agent({ name: 'makers' })
  .onRequest(methods.agent.initialize, () => ({ protocolVersion: PROTOCOL_VERSION, agentCapabilities: {}, agentInfo: { name: 'makers', version: '1.0.0' } }))
  .onRequest(methods.agent.session.new, ({ params }) => {
    folder = params.cwd
    return { sessionId: 'one' }
  })
  .onRequest(methods.agent.session.prompt, async ({ params: { sessionId }, client }) => {
    const say = (text) => client.notify(its.session.update, { sessionId, update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } })
    const { content } = await client.request(its.fs.readTextFile, { sessionId, path: `${folder}/in.txt` })
    await say(`It says ${content.trim()}. `)
    const { outcome } = await client.request(its.session.requestPermission, {
      sessionId, toolCall: { toolCallId: 'a', title: 'Deploy', kind: 'execute', rawInput: { command: 'deploy now' } },
      options: [{ optionId: 'go', name: 'Go', kind: 'allow_once' }, { optionId: 'stop', name: 'Stop', kind: 'reject_once' }],
    })
    await say(`Chosen: ${outcome.optionId}. `)
    await client.request(its.fs.writeTextFile, { sessionId, path: `${folder}/out.txt`, content: 'written\n' })
    const { terminalId } = await client.request(its.terminal.create, { sessionId, command: 'cat', args: ['out.txt'] })
    const { exitCode } = await client.request(its.terminal.waitForExit, { sessionId, terminalId })
    const { output } = await client.request(its.terminal.output, { sessionId, terminalId })
    await say(`Exit ${exitCode}: ${output.trim()}.`)
    return { stopReason: 'end_turn' }
  })
app.connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)))
