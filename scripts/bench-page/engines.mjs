// The two engines that show the page: Chromium in browser mode, and the real
// window in WebKitGTK under Xvfb. Both offer the same methods.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Desktop, root } from '../window-test/desktop.mjs'
import { install } from './probe.mjs'

const { chromium } = createRequire(join(root, 'frontend/package.json'))('playwright-core')

const message = 'textarea[aria-label=Message]'
const size = { width: 1280, height: 800 }

/** All processes, each with its command line. */
function processes() {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' }).trim().split('\n')
  return lines.map((line) => line.match(/^\s*(\d+)\s+(\d+)\s+(.*)/)).map(([, id, parent, args]) => ({ id: +id, parent: +parent, args }))
}

/** Whether a window of WebKit is open. It shares pages with every other one, which then counts fewer. */
export const windowIsOpen = () => processes().some(({ args }) => args.includes('WebKitWebProcess'))

/** The processes below one. */
function descendants(pid) {
  const all = processes()
  const below = (parent) => all.filter((one) => one.parent === parent).flatMap((one) => [one, ...below(one.id)])
  return below(pid)
}

/** The proportional set size of a process in bytes; 0 if it cannot be read. */
function pss(pid) {
  try {
    return Number(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8').match(/^Pss:\s+(\d+)/m)[1]) * 1024
  } catch {
    return 0
  }
}

const sum = (values) => values.reduce((a, b) => a + b, 0)

/** The memory of a window's processes: of those that show its page, and of all. */
export function processMemory(window) {
  const all = [{ id: window, args: '' }, ...descendants(window)]
  const page = all.filter(({ args }) => args.includes('WebKitWebProcess'))
  return { page: sum(page.map(({ id }) => pss(id))), all: sum(all.map(({ id }) => pss(id))) }
}

/** Starts the program without a window and opens its page in Chromium. */
export async function openChromium({ folder, home, env, profiles }) {
  const begun = Date.now()
  const program = spawn(join(root, 'build/bin/atelier-headless'), ['serve', folder, '--addr', '127.0.0.1:0'], {
    env: { PATH: process.env.PATH, HOME: home, ATELIER_HOME: home, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [url] = await once(createInterface(program.stdout), 'line')
  const startMs = Date.now() - begun
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell',
    args: ['--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  })
  const page = await (await browser.newContext({ viewport: size })).newPage()
  page.setDefaultTimeout(120_000)
  await page.goto(url)
  await page.locator(message).waitFor()
  await page.evaluate(install)
  const devtools = await page.context().newCDPSession(page)
  const run = (name, ...args) => page.evaluate(([name, args]) => window.benchProbe[name](...args), [name, args])
  return {
    run,
    /** The ms from the start of the program to the first frame, without the start of the browser. */
    start: async () => startMs + (await run('firstPaint')).since,
    async type(text, pause) {
      await page.locator(message).focus()
      await page.keyboard.type(text, { delay: pause })
    },
    async send(text) {
      await page.locator(message).fill(text)
      await page.keyboard.press('Enter')
    },
    async clear() {
      await page.locator(message).fill('')
    },
    memory() {
      const pages = descendants(process.pid).filter(({ args }) => args.includes('--type=renderer'))
      const own = Math.max(0, ...pages.map(({ id }) => pss(id)))
      return { page: own, all: own + pss(program.pid) }
    },
    /** Runs a measurement, whose profile is saved if that was asked for. */
    async profiled(name, work) {
      if (!profiles) return work()
      await devtools.send('Profiler.enable')
      await devtools.send('Profiler.start')
      const result = await work()
      const { profile } = await devtools.send('Profiler.stop')
      writeFileSync(join(profiles, `${name}.cpuprofile`), JSON.stringify(profile))
      return result
    },
    async close() {
      await browser.close()
      program.kill()
      await once(program, 'exit')
    },
  }
}

/** Opens the real window on a virtual screen. */
export async function openWebKit({ folder, home, env }) {
  const desktop = await Desktop.start(size.width, size.height)
  const field = `//${message.replace('[aria-label=Message]', '[@aria-label="Message"]')}`
  try {
    const window = await desktop.open({ folder, home, env })
    await window.find(field)
    await window.run(`(${install})()`)
    const run = (name, ...args) => window.run(`return window.benchProbe[arguments[0]](...arguments[1])`, name, args)
    return {
      run,
      start: async () => (await run('firstPaint')).at - window.begun,
      async type(text, pause) {
        await window.keys(text, pause)
      },
      async send(text) {
        await window.type(field, `${text}\uE007`)
      },
      async clear() {
        await window.type(field, '\uE009a\uE000\uE017') // Control and A, no modifier, Delete
      },
      memory: () => processMemory(window.pid),
      profiled: (_, work) => work(),
      async close() {
        await window.close()
        desktop.stop()
      },
    }
  } catch (error) {
    desktop.stop()
    throw error
  }
}
