// A model server that streams at a given pace.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

export const modelID = 'scripted-1'

/** The end of every streamed answer. */
export const lastWords = 'That was all.'

/** What is streamed, again and again: Markdown with all that answers have. */
const passage = `## What the cache does

The **cache** keeps each parsed file until its content changes, so that a second request for the same file costs nothing. Its index lies in \`internal/cache/index.go:42\`, beside the table of files.

- It reads a file once, and remembers its *size* and its time.
- It drops the files that nobody asked for lately.
- It never keeps more than the limit allows.

\`\`\`go
func (c *Cache) Get(name string) (*File, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if file, ok := c.files[name]; ok && file.fresh() {
		return file, nil
	}
	return c.read(name)
}
\`\`\`

| Case | Reads | Time |
|---|---|---|
| first | 1 | 1.2 ms |
| again | 0 | 3 µs |

`

/** The pieces of the passage, about as long as tokens. */
const pieces = passage.match(/\s?\S{1,5}|\s+/g)

/** The piece at a place of the stream. No passage is like another, so that nothing is known from before. */
const pieceAt = (place) => pieces[place % pieces.length].replace(/\b(?=(cache|file|reads|limit|first|again)\b)/, `n${Math.floor(place / pieces.length)}`)

/** How often the time is written into the text, in pieces. */
const stampEvery = pieces.length

/** A prompt whose answer streams until the server is told to finish. Any other prompt is answered at once. */
export const streamPrompt = 'Stream until you are told to stop.'

/** Starts the server, which streams so many pieces a second. */
export async function startModel(rate) {
  let isOver = false
  const server = createServer(async (request, response) => {
    if (request.url.endsWith('/models')) {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ object: 'list', data: [{ id: modelID, object: 'model' }] }))
      return
    }
    if (request.method !== 'POST' || request.url.startsWith('/api/')) {
      response.writeHead(404).end() // how large the window of a local server is
      return
    }
    let body = ''
    for await (const chunk of request) body += chunk
    const asked = JSON.stringify(JSON.parse(body).messages.at(-1)?.content)
    response.setHeader('content-type', 'text/event-stream')
    const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: modelID }
    const line = (delta, finish = null) =>
      `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
    response.write(line({ role: 'assistant', content: '' }))
    isOver = !asked.includes(streamPrompt)
    const begun = performance.now()
    for (let sent = 0; !isOver && !response.destroyed; await sleep(2)) {
      const due = Math.floor(((performance.now() - begun) / 1000) * rate)
      let text = ''
      for (; sent < due && !response.writableNeedDrain; sent++) {
        if (sent % stampEvery === 0) text += line({ content: `@${Date.now()}\n\n` })
        text += line({ content: pieceAt(sent) })
      }
      if (text) response.write(text)
    }
    response.write(line({ content: `\n\n${lastWords}` }))
    // About what a tokenizer counts: far less, and the page would say that the server cuts the prompt off.
    const prompt = Math.ceil(body.length / 4)
    const usage = { prompt_tokens: prompt, completion_tokens: 50, total_tokens: prompt + 50 }
    response.end(`${line({}, 'stop')}data: ${JSON.stringify({ ...head, choices: [], usage })}\n\ndata: [DONE]\n\n`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    /** Ends the answer that streams. */
    finish() {
      isOver = true
    },
    stop() {
      server.close()
      server.closeAllConnections()
    },
  }
}
