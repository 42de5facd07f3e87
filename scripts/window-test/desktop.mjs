// A virtual screen with real windows of Atelier, which WebKitWebDriver drives.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
export const root = resolve(here, '../..')

/**
 * until polls until look returns something true, which it returns. A machine that
 * builds and tests at the same time has paused for 40 seconds.
 */
export async function until(what, look, limit = 60_000) {
  const end = Date.now() + limit
  for (let last; ; ) {
    try {
      const found = await look()
      if (found) return found
    } catch (error) {
      last = error
    }
    if (Date.now() > end) throw new Error(`waited ${limit} ms for ${what}${last ? `: ${last.message}` : ''}`)
    await sleep(25)
  }
}

const all = mkdtempSync(join(tmpdir(), 'atelier-window-'))
process.on('exit', () => rmSync(all, { recursive: true, force: true }))

/** scratch makes a folder that goes with the test run. */
export function scratch(name) {
  return mkdtempSync(join(all, `${name}-`))
}

/** compiled returns what is made of a C file beside this one, compiled when the file is newer. */
function compiled(name, needs, ...flags) {
  const source = join(here, `${name}.c`)
  const made = join(root, '.cache', `${name}.compiled`)
  if (!existsSync(made) || statSync(made).mtimeMs < statSync(source).mtimeMs) {
    mkdirSync(dirname(made), { recursive: true })
    const needed = execFileSync('pkg-config', ['--cflags', '--libs', needs], { encoding: 'utf8' })
    execFileSync('gcc', [...flags, '-o', made, source, ...needed.trim().split(/\s+/)])
  }
  return made
}

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  return port
}

export class Desktop {
  #processes = []
  #driver

  static async start(width = 1280, height = 800) {
    const desktop = new Desktop()
    desktop.preload = compiled('automation', 'webkit2gtk-4.1', '-shared', '-fPIC')
    const xvfb = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', `${width}x${height}x24`, '-nolisten', 'tcp'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    })
    desktop.#processes.push(xvfb)
    const [number] = await once(xvfb.stdio[3], 'data')
    desktop.env = { ...process.env, DISPLAY: `:${String(number).trim()}`, NO_AT_BRIDGE: '1', LANG: 'C.UTF-8' }
    delete desktop.env.WAYLAND_DISPLAY

    const port = await freePort()
    desktop.url = `http://127.0.0.1:${port}`
    const driver = spawn('dbus-run-session', ['--', 'WebKitWebDriver', `--port=${port}`], {
      env: desktop.env,
      stdio: 'ignore',
      detached: true,
    })
    desktop.#processes.push(driver)
    desktop.#driver = driver.pid
    await until('WebKitWebDriver', async () => (await fetch(`${desktop.url}/status`)).ok)
    return desktop
  }

  /** bus returns the address of the session bus that the windows are on. */
  bus() {
    const children = execFileSync('ps', ['-o', 'pid=,comm=', '--ppid', String(this.#driver)], { encoding: 'utf8' })
    const environment = readFileSync(`/proc/${Number(children.match(/(\d+) WebKitWebDriv/)[1])}/environ`, 'utf8')
    return environment.match(/(?:^|\0)DBUS_SESSION_BUS_ADDRESS=([^\0]*)/)[1]
  }

  /** hands does what a user's hands do, with the real keyboard and mouse, in the words of xdotool. */
  hands(...does) {
    return execFileSync('xdotool', does.map(String), { env: this.env, encoding: 'utf8' }).trim()
  }

  /** clipboard returns the text on the clipboard as another program gets it. */
  clipboard() {
    return execFileSync('xclip', ['-o', '-selection', 'clipboard'], { env: this.env, encoding: 'utf8', timeout: 5000 })
  }

  /** cover brings a red window of another program to the front, and returns what reports whether it can be seen, and what ends it. */
  async cover() {
    const child = this.#start('display', ['-title', 'Another program', '-size', '300x200', 'xc:red'])
    const id = await until('the other window', () => this.hands('search', '--onlyvisible', '--name', 'Another program'))
    this.hands('windowmove', id, 0, 0, 'windowraise', id, 'windowfocus', '--sync', id)
    const pixel = ['-window', 'root', '-crop', '1x1+150+100', 'txt:-']
    const seen = () => / red$/m.test(execFileSync('import', pixel, { env: this.env, encoding: 'utf8' }))
    await until('the other window to be seen', seen)
    return { isCovered: seen, uncover: () => child.kill() }
  }

  /** notices starts what shows notices, and returns those shown, as [id, title, body], and what the user does to them. */
  async notices() {
    const child = this.#start(compiled('notices', 'gio-2.0'), [], { DBUS_SESSION_BUS_ADDRESS: this.bus() })
    const lines = []
    createInterface(child.stdout).on('line', (line) => lines.push(line.split('\t')))
    await until('the notices', () => lines.length > 0)
    lines.shift() // "ready"
    const act = (what) => (id) => child.stdin.write(`${what} ${id}\n`)
    return { shown: lines, press: act('press'), dismiss: act('dismiss') }
  }

  #start(program, args, env = {}) {
    const child = spawn(program, args, {
      env: { ...this.env, ...env },
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    this.#processes.push(child)
    return child
  }

  stop() {
    for (const child of this.#processes.reverse()) {
      try {
        process.kill(child.pid === this.#driver ? -child.pid : child.pid)
      } catch {
        // already gone
      }
    }
  }

  /** picture saves what the screen shows. */
  picture(path) {
    mkdirSync(dirname(path), { recursive: true })
    execFileSync('import', ['-window', 'root', path], { env: this.env })
  }

  /** open starts a program on a folder and waits for its window's page. */
  async open({ program = join(root, 'build/bin/atelier'), folder, home, env = {} }) {
    const pidFile = join(scratch('pid'), 'pid')
    const settings = { ...env, ATELIER_HOME: home, ATELIER_AUTOMATION: '1', LD_PRELOAD: this.preload }
    const assignments = Object.entries(settings).map(([name, value]) => `${name}=${value}`)
    const script = 'echo $$ >"$0"; exec env "$@" >"$0.log" 2>&1'
    const begun = Date.now()
    const { sessionId } = await this.request('POST', '/session', {
      capabilities: {
        alwaysMatch: {
          'webkitgtk:browserOptions': { binary: '/bin/sh', args: ['-c', script, pidFile, ...assignments, program, folder] },
        },
      },
    })
    const window = new AppWindow(this, sessionId, Number(readFileSync(pidFile, 'utf8')), `${pidFile}.log`, begun)
    await window.ready()
    return window
  }

  async request(method, path, body) {
    const answer = await fetch(this.url + path, { method, body: body && JSON.stringify(body) })
    const { value } = await answer.json()
    if (!answer.ok) throw new Error(`${value.error}: ${value.message}`)
    return value
  }
}

const elementKey = 'element-6066-11e4-a52e-4f735466cecf'

/** One running program and its window. */
export class AppWindow {
  constructor(desktop, session, pid, log, begun) {
    Object.assign(this, { desktop, session, pid, begun })
    this.output = () => readFileSync(log, 'utf8')
  }

  #send(method, path, body) {
    return this.desktop.request(method, `/session/${this.session}${path}`, body)
  }

  /** run evaluates the body of an async function in the page. */
  run(body, ...args) {
    const script = `const done = arguments[arguments.length - 1];
      (async function () { ${body} }).apply(null, arguments).then(done, (error) => done(Promise.reject(error)))`
    return this.#send('POST', '/execute/async', { script, args })
  }

  /** within evaluates the body of an async function in a frame. */
  async within(xpath, body, ...args) {
    const id = await this.find(xpath)
    await this.#send('POST', '/frame', { id: { [elementKey]: id } })
    try {
      return await this.run(body, ...args)
    } finally {
      await this.#send('POST', '/frame', { id: null })
    }
  }

  ready() {
    return until('the page', () => this.run(`return document.readyState === 'complete' && !!window.go`))
  }

  /** find returns the visible element that XPath names. */
  async find(xpath) {
    const element = await until(xpath, () => this.#send('POST', '/element', { using: 'xpath', value: xpath }))
    return element[elementKey]
  }

  async click(xpath) {
    const id = await this.find(xpath)
    await until(`${xpath} to take a click`, async () => (await this.#send('POST', `/element/${id}/click`, {})) ?? true)
  }

  async type(xpath, text) {
    await this.#send('POST', `/element/${await this.find(xpath)}/value`, { text })
  }

  /** keys presses keys one after another, with a pause of so many ms after each. */
  async keys(text, pause) {
    const actions = [...text].flatMap((value) => [
      { type: 'keyDown', value },
      { type: 'keyUp', value },
      { type: 'pause', duration: pause },
    ])
    await this.#send('POST', '/actions', { actions: [{ type: 'key', id: 'keyboard', actions }] })
  }

  /** id returns the window's own id on the screen. */
  get id() {
    const ids = this.desktop.hands('search', '--all', '--onlyvisible', '--pid', this.pid, '--class', 'atelier').split('\n')
    return ids[0]
  }

  async text(xpath) {
    return this.#send('GET', `/element/${await this.find(xpath)}/text`)
  }

  alive() {
    try {
      // A zombie has ended too; its parent has not waited for it yet.
      return !/^State:\s+Z/m.test(readFileSync(`/proc/${this.pid}/status`, 'utf8'))
    } catch {
      return false
    }
  }

  /** close asks the program to end, and waits until it has ended. */
  async close(signal = 'SIGTERM') {
    if (this.alive()) process.kill(this.pid, signal)
    await until('the program to end', () => !this.alive())
    await this.#send('DELETE', '').catch(() => {}) // the driver's window may be gone
  }
}
