/** A scripted model that speaks Chat Completions. */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Round = {
  /** Thinking before the text, and how long the answer pauses after it. */
  reasoning?: string
  rest?: Promise<unknown>
  text?: string
  calls?: { name: string; input: unknown }[]
  /** An HTTP failure instead of an answer. */
  status?: number
  /** The seconds in the Retry-After header of a failure. */
  retryAfter?: number
  /** Headers of the answer, such as those of a rate limit. */
  headers?: Record<string, string>
  /** The usage in tokens; by default some of it grows with each round. */
  usage?: { input: number; cached: number; output: number }
}

/** A round, or a function that makes one from the text of the request. */
export type Script = readonly (Round | ((conversation: string) => Round))[]

export type Model = {
  /** The base URL for COMPAT_BASE_URL. */
  url: string
  /** The last message of each request. */
  heard: string[]
  /** The model that each request was for. */
  asked: string[]
  stop(): void
}

export const modelID = 'scripted-1'

/**
 * Serves the rounds in order. When none is left, the model ends its turn. The
 * models in byModel have rounds of their own, for conversations that run at the
 * same time.
 */
export async function startModel(
  rounds: Script,
  byModel: Record<string, Script> = {},
): Promise<Model> {
  const heard: string[] = []
  const asked: string[] = []
  const served: Record<string, number> = {}
  let answers = 0
  const server = createServer(async (request, response) => {
    if (request.url?.endsWith('/models')) {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ object: 'list', data: [{ id: modelID, object: 'model' }] }))
      return
    }
    if (request.method !== 'POST' || request.url?.startsWith('/api/')) {
      response.writeHead(404).end() // how large the window of a local server is
      return
    }
    const body = JSON.parse(await read(request)) as {
      model: string
      messages: { content: unknown }[]
    }
    heard.push(JSON.stringify(body.messages.at(-1)?.content))
    asked.push(body.model)
    const script = Object.hasOwn(byModel, body.model) ? body.model : ''
    const at = served[script] ?? 0
    served[script] = at + 1
    const next = (byModel[script] ?? rounds)[at] ?? { text: 'Nothing more to do.' }
    const round = typeof next === 'function' ? next(JSON.stringify(body.messages)) : next
    if (round.status) {
      response.writeHead(round.status, {
        'content-type': 'application/json',
        ...(round.retryAfter && { 'retry-after': String(round.retryAfter) }),
      })
      const message = round.status === 401 ? 'Incorrect API key provided.' : 'Try again later.'
      response.end(JSON.stringify({ error: { message, type: 'invalid_request_error' } }))
      return
    }
    response.setHeader('content-type', 'text/event-stream')
    for (const [name, value] of Object.entries(round.headers ?? {})) response.setHeader(name, value)
    answers++
    for (const chunk of reasoningOf(round, answers)) {
      response.write(`data: ${JSON.stringify(chunk)}\n\n`)
    }
    await round.rest
    for (const chunk of chunksOf(round, answers)) {
      response.write(`data: ${JSON.stringify(chunk)}\n\n`)
    }
    response.end('data: [DONE]\n\n')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const stop = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${port}/v1`, heard, asked, stop }
}

const headOf = (at: number) => ({
  id: `chatcmpl-${at}`,
  object: 'chat.completion.chunk',
  created: 1,
  model: modelID,
})

const deltaOf =
  (at: number) =>
  (delta: unknown, finish: string | null = null) => ({
    ...headOf(at),
    choices: [{ index: 0, delta, finish_reason: finish }],
  })

/** Divides a text into pieces of at least twelve characters, and into 20,000 pieces at most. */
function* piecesOf(text = '') {
  const length = Math.max(12, Math.ceil(text.length / 20_000))
  for (let at = 0; at < text.length; at += length) yield text.slice(at, at + length)
}

function* reasoningOf(round: Round, at: number) {
  for (const piece of piecesOf(round.reasoning)) {
    yield deltaOf(at)({ reasoning_content: piece })
  }
}

function* chunksOf(round: Round, at: number) {
  const head = headOf(at)
  const delta = deltaOf(at)
  yield delta({ role: 'assistant', content: '' })
  for (const piece of piecesOf(round.text)) yield delta({ content: piece })
  for (const [index, call] of (round.calls ?? []).entries()) {
    const id = `call_${at}_${index}`
    const named = { name: call.name, arguments: '' }
    yield delta({ tool_calls: [{ index, id, type: 'function', function: named }] })
    const written = { arguments: JSON.stringify(call.input) }
    yield delta({ tool_calls: [{ index, function: written }] })
  }
  yield delta({}, round.calls ? 'tool_calls' : 'stop')
  const { input, cached, output } = round.usage ?? { input: 1200 * at, cached: 0, output: 40 }
  const usage = {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
  }
  yield { ...head, choices: [], usage }
}

async function read(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const chunk of request) body += chunk
  return body
}
