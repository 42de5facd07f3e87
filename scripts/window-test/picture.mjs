// Takes docs/window.png, the picture in the README: the real window on a small
// project, with a scripted model and every call really made.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { Desktop, root, scratch, until } from './desktop.mjs'

const files = {
  'go.mod': 'module example.com/weather\n\ngo 1.26\n',
  'README.md': '# Weather station\n\nReads the sensors on the roof and draws their days.\n',
  'mean.go': `package weather

// Mean is the mean of an hour, in °C.
func Mean(all []Reading) float64 {
	var sum float64
	for _, r := range all {
		sum += r.Celsius
	}
	return sum / float64(len(all))
}
`,
  'reading.go': `package weather

import "time"

// Reading is what a sensor said. A sensor that was silent is Missing.
type Reading struct {
	At      time.Time
	Celsius float64
	Missing bool
}
`,
  'mean_test.go': `package weather

import "testing"

func TestMeanSkipsSilentSensors(t *testing.T) {
	got, ok := Mean([]Reading{{Celsius: 18}, {Missing: true}, {Celsius: 20}})
	if !ok || got != 19 {
		t.Errorf("Mean = %v, %t; want 19, true", got, ok)
	}
	if _, ok := Mean(nil); ok {
		t.Error("an hour without readings has a mean")
	}
}
`,
}

const call = (name, input) => ({ name, input })

/** The rounds of the model's answer to each prompt. */
const answers = {
  'Draw the wind rose': [{ text: 'The report has a wind rose now.' }],
  'Battery stuck at 99 %': [{ text: 'The gauge rounds down; it is full at 99.6 %.' }],
  'Skip silent sensors in the mean': [
    { text: 'I look at how the mean is made.', calls: [call('Read', { file_path: 'mean.go' }), call('Read', { file_path: 'reading.go' }), call('Grep', { pattern: 'Missing' })] },
    {
      text: 'Silent sensors count as 0 °C, and an hour without readings divides by zero.',
      calls: [
        call('Edit', {
          file_path: 'mean.go',
          old_string: `// Mean is the mean of an hour, in °C.
func Mean(all []Reading) float64 {
	var sum float64
	for _, r := range all {
		sum += r.Celsius
	}
	return sum / float64(len(all))
}`,
          new_string: `// Mean is the mean of an hour, in °C. It is
// not ok if every sensor was silent.
func Mean(all []Reading) (m float64, ok bool) {
	var sum float64
	var n int
	for _, r := range all {
		if r.Missing {
			continue
		}
		sum += r.Celsius
		n++
	}
	return sum / float64(max(n, 1)), n > 0
}`,
        }),
      ],
    },
    { calls: [call('Bash', { command: 'go test ./...', description: 'Run the tests' })] },
    {
      text: 'The mean now leaves out sensors that were silent, and says so when none was heard. The test in `mean_test.go:5` covers both cases and passes.',
    },
  ],
  'Rebuild the cache from last year’s readings': [
    {
      text: 'The cached means were made with the old function, so I remove them and fetch the readings again.',
      calls: [
        call('Bash', {
          command: 'rm -rf cache && curl -fsS -o data/2025.csv https://readings.example.com/roof/2025.csv',
          description: 'Delete the cached means and download the readings of 2025',
        }),
      ],
    },
  ],
}

/** Serves the answers over Chat Completions. */
async function startModel() {
  const server = createServer(async (request, response) => {
    if (request.url.endsWith('/models')) {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ object: 'list', data: [{ id: 'coder', object: 'model' }] }))
      return
    }
    if (request.method !== 'POST' || request.url.startsWith('/api/')) {
      response.writeHead(404).end() // how large the window of a local server is
      return
    }
    let body = ''
    for await (const chunk of request) body += chunk
    const { messages } = JSON.parse(body)
    const asked = messages.findLastIndex(({ role, content }) => role === 'user' && promptIn(content))
    const rounds = answers[promptIn(messages[asked]?.content)] ?? []
    const { text = '', calls } = rounds[messages.slice(asked).filter(({ role }) => role === 'assistant').length] ?? { text: 'Done.' }
    const line = (delta, finish_reason = null) =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'coder', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
    response.setHeader('content-type', 'text/event-stream')
    response.write(line({ role: 'assistant', content: text }))
    for (const [index, { name, input }] of (calls ?? []).entries()) {
      const id = `call_${messages.length}_${index}`
      response.write(line({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: JSON.stringify(input) } }] }))
    }
    response.write(line({}, calls ? 'tool_calls' : 'stop'))
    const usage = { prompt_tokens: 9000 + body.length, completion_tokens: 400, total_tokens: 9400 + body.length }
    response.end(`data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'coder', choices: [], usage })}\n\ndata: [DONE]\n\n`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

const promptIn = (content) => Object.keys(answers).find((prompt) => JSON.stringify(content ?? '').includes(prompt))

function stage() {
  const home = scratch('home')
  const folder = join(scratch('place'), 'weather-station')
  mkdirSync(join(folder, 'cache'), { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const git = (...args) => execFileSync('git', ['-C', folder, '-c', 'user.name=A', '-c', 'user.email=a@example.com', ...args])
  git('init', '-q', '-b', 'main')
  git('add', '.')
  git('commit', '-qm', 'Begin')
  const model = { provider: 'compat', id: 'coder', display_name: 'Coder', context_window: 200_000, input: 0.6, output: 2.4, cache_read: 0.1 }
  writeFileSync(join(home, 'models.json'), JSON.stringify({ models: [model] }))
  return { folder, home }
}

const button = (name) => `//button[normalize-space()="${name}" or text()[normalize-space()="${name}"] or @aria-label="${name}"]`
const approval = (tool) => `//section[@aria-label="Needs you: ${tool}" and @data-armed="true"]`
const message = '//textarea[@aria-label="Message"]'

const desktop = await Desktop.start(1280, 800)
const model = await startModel()
try {
  const env = { COMPAT_BASE_URL: `http://127.0.0.1:${model.address().port}/v1`, COMPAT_API_KEY: 'none' }
  const window = await desktop.open({ ...stage(), env })
  const ask = async (prompt) => {
    await window.type(message, prompt)
    await window.click(button('Send'))
  }
  const [wind, battery, mean, cache] = Object.keys(answers)
  for (const prompt of [wind, battery]) {
    await ask(prompt)
    await window.find('//*[@role="log"]//*[contains(text(), "report has") or contains(text(), "rounds down")]')
    await window.click(button('New session'))
    await window.find('//textarea[@aria-label="Message"]')
  }
  await ask(mean)
  await window.click(approval('Edit') + button('Allow'), 20_000)
  await window.click(approval('Bash') + button('Allow'), 20_000)
  await window.find('//*[contains(text(), "leaves out sensors")]', 60_000)
  await window.click('//aside//button[@title="mean.go"]')
  await ask(cache)
  await window.find(approval('Bash'), 20_000)
  desktop.hands('mousemove', 620, 799)
  const isAtRest = `return document.getAnimations().every(({ playState }) => playState !== 'running')`
  await until('the page to rest', () => window.run(isAtRest))
  desktop.picture(process.argv[2] ?? join(root, 'docs/window.png'))
  await window.close()
} finally {
  desktop.stop()
  model.close()
  model.closeAllConnections()
}
