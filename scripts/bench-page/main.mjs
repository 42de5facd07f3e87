// Measures the page in Chromium and in WebKitGTK, and prints a table; see
// docs/performance.md. Run it with `make bench-page`.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { root } from '../window-test/desktop.mjs'
import { openChromium, openWebKit, windowIsOpen } from './engines.mjs'
import { busyShare, megabytes, quantile, smoothness, spread, table, times } from './figures.mjs'
import { lastWords, modelID, startModel, streamPrompt } from './model.mjs'
import { windowMemory } from './window.mjs'

const { values: given } = parseArgs({
  options: {
    engine: { type: 'string', default: 'Chromium,WebKitGTK' },
    messages: { type: 'string', default: '50000' },
    lines: { type: 'string', default: '20000' },
    rate: { type: 'string', default: '5000' },
    runs: { type: 'string', default: '10' },
    frames: { type: 'string', default: '300' },
    profiles: { type: 'string' }, // a folder for CPU profiles of Chromium
  },
})
const [messages, lines, rate, runs, frames] = ['messages', 'lines', 'rate', 'runs', 'frames'].map((name) => Number(given[name]))
const engines = given.engine.split(',')
/** How often what takes long is measured. */
const few = Math.ceil(runs / 2)

const dir = mkdtempSync(join(tmpdir(), 'atelier-bench-page-'))
process.on('exit', () => rmSync(dir, { recursive: true, force: true }))
process.on('SIGINT', () => process.exit(130))

/** The figures of each row, by engine. */
const rows = new Map()

/** Warns if the machine does other work, because the figures would not be Atelier's. */
async function lookForLoad() {
  const read = () => readFileSync('/proc/stat', 'utf8')
  const before = read()
  await sleep(2000)
  const busy = busyShare(before, read())
  console.log(`${cpus().length} processors, ${Math.round(busy * 100)} % in use before the start`)
  if (busy > 0.1) console.log('WARNING: the machine does other work, so the times are too long.')
  if (windowIsOpen()) console.log('WARNING: a window of WebKit is open, so the memory of windows is too small, and the ratio of two too large.')
}

/** Repeats a measurement and returns its results. */
async function repeat(times, work) {
  const results = []
  for (let n = 0; n < times; n++) results.push(await work(n))
  return results
}

/** Makes a project and a home with the sessions, the same for each engine. */
function stage(engine) {
  const [folder, home] = ['project', 'home'].map((name) => join(dir, engine, name))
  mkdirSync(folder, { recursive: true })
  mkdirSync(home, { recursive: true, mode: 0o700 })
  writeFileSync(join(home, 'models.json'), JSON.stringify({ models: [{ provider: 'compat', id: modelID, display_name: 'Scripted', context_window: 400_000 }] }))
  const args = ['run', './scripts/seed', '-home', home, '-folder', folder, '-messages', `${messages}`, '-lines', `${lines}`]
  execFileSync('go', args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
  return { folder, home }
}

const openers = { Chromium: openChromium, WebKitGTK: openWebKit }

/** Takes all figures of one engine. */
async function measure(engine) {
  const model = await startModel(rate)
  const env = { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'bench-key' }
  const at = { ...stage(engine), env, profiles: given.profiles }
  const bench = new Bench(engine, model)
  try {
    await bench.start(() => openers[engine](at))
    bench.page = await openers[engine](at)
    await bench.atRest()
    await bench.whileStreaming()
    await bench.diff()
  } finally {
    await bench.page?.close()
    model.stop()
  }
}

/** The measurements of one engine. */
class Bench {
  page
  #engine
  #model

  constructor(engine, model) {
    this.#engine = engine
    this.#model = model
  }

  #put(name, figure) {
    if (!rows.has(name)) rows.set(name, {})
    rows.get(name)[this.#engine] = figure
  }

  #memory(when) {
    const { page, all } = this.page.memory()
    this.#put(`memory ${when}: the page, with the program`, `${megabytes(page)}, ${megabytes(all)}`)
  }

  async start(open) {
    const starts = await repeat(few, async () => {
      const page = await open()
      const took = await page.start()
      await page.close()
      return took
    })
    this.#put('start to the first paint', times(starts))
  }

  #reopen = (newest) => this.page.run('open', 'seed-long', newest)
  #leave = () => this.page.run('openEmpty', 'seed-empty')

  async atRest() {
    const newest = 'That was the newest message.'
    this.#memory('at the start')
    const first = await this.page.profiled('open-first', () => this.#reopen(newest))
    this.#put(`open ${messages} messages, the first time`, times([first]))
    const openings = await this.page.profiled('open', () =>
      repeat(runs, async () => {
        await this.#leave()
        return this.#reopen(newest)
      }),
    )
    this.#put(`open ${messages} messages, again`, times(openings))
    const jumps = await this.page.profiled('start', () =>
      repeat(few, async () => {
        const took = await this.page.run('toStart')
        await this.page.run('toNewest', newest)
        return took
      }),
    )
    this.#put('to the start in one jump', times(jumps))
    this.#memory('once they are open')
    await this.#moves('', frames)
    this.#memory('once they were scrolled')
  }

  async whileStreaming() {
    const { run, profiled } = this.page
    const when = `, ${rate} deltas a second`
    await this.#stream()
    const watched = await profiled('stream', () => run('watch', frames * 20))
    this.#put(`frames${when}`, smoothness(watched))
    await this.#end()
    await this.#stream()
    this.#put('from a delta to the screen', spread(await run('ages', Math.max(frames * 20, 2000))))
    await this.#end()
    await this.#stream()
    await this.#moves(when, frames / 2)
    await this.#end()
    await this.#stream()
    const returns = await profiled('open-stream', () =>
      repeat(few, async () => {
        await this.#leave()
        return this.#reopen('@')
      }),
    )
    this.#put(`open ${messages} messages${when}`, times(returns))
    await this.#end()
    this.#memory('after the streams')
  }

  /** Begins an answer that streams. */
  async #stream() {
    await this.page.send(streamPrompt)
    await this.#until('the stream', () => this.page.run('isStreaming'))
  }

  /** Ends the answer, and waits until its end is shown. */
  async #end() {
    this.#model.finish()
    await this.page.run('toEnd')
    await this.#until('the end of the stream', () => this.page.run('isNewest', lastWords))
  }

  async #until(what, look) {
    for (const end = Date.now() + 120_000; !(await look()); await sleep(50)) {
      if (Date.now() > end) throw new Error(`${this.#engine}: ${what} did not come`)
    }
  }

  /** Types, and scrolls there and back, at rest or during a stream. */
  async #moves(when, frames) {
    const { run, profiled, type, clear } = this.page
    const name = when && '-stream'
    await run('startKeys')
    await profiled(`type${name}`, () => type('The quick brown fox jumps over the lazy dog.', 40))
    this.#put(`from a key to the screen${when}`, spread(await run('takeKeys')))
    await clear()
    const up = await profiled(`up${name}`, () => run('scroll', -120, frames))
    this.#put(`frames while scrolling up${when}`, smoothness(up))
    const down = await profiled(`down${name}`, () => run('scroll', 120, frames))
    this.#put(`frames while scrolling down${when}`, smoothness(down))
    await run('toEnd')
  }

  async diff() {
    const { run, profiled } = this.page
    await run('open', 'seed-diff', 'Every call is measured now.')
    const opened = await profiled('diff', () =>
      repeat(few, async (n) => {
        if (n > 0) await run('closeDiff')
        return run('openDiff')
      }),
    )
    this.#put(`open a diff of ${lines} lines`, times(opened.map(({ took }) => took)))
    this.#put('frames while it opens', smoothness({ frames: opened.flatMap(({ frames }) => frames), tasks: null }))
    const scrolled = await profiled('diff-scroll', () => run('scrollDiff', 400, frames))
    this.#put('frames while it is scrolled', smoothness(scrolled))
    this.#memory('after the diff')
  }
}

/** Compares the memory of the window with that of one that shows a line of text. */
async function measureWindow() {
  const [folder, home] = ['small', 'home'].map((name) => join(dir, 'window', name))
  mkdirSync(folder, { recursive: true })
  mkdirSync(home, { mode: 0o700 })
  writeFileSync(join(folder, 'README.md'), '# Sundial\n\nA clock that needs the sun.\n')
  const runs = await repeat(few, async () => [
    await windowMemory(join(root, 'build/bin/atelier'), [folder], { ATELIER_HOME: home }),
    await windowMemory(join(root, 'build/bin/bare-window'), [], {}),
  ])
  const [ours, bare] = [0, 1].map((which) => quantile(runs.map((run) => run[which]), 0.5))
  rows.set('memory of the window, and of one with a line of text', { WebKitGTK: `${megabytes(ours)}, ${megabytes(bare)}: ${(ours / bare).toFixed(2)}×` })
}

await lookForLoad()
if (engines.includes('WebKitGTK')) await measureWindow()
for (const engine of engines) await measure(engine)
for (const line of table(engines, rows)) console.log(line)
