/** The real program in a project folder of its own, started as a user would start it. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

const program = resolve(process.env.ATELIER_BIN ?? '../build/bin/atelier-headless')

export type Host = {
  folder: string
  home: string
  /** The printed address with the token, which works once. */
  url: string
  stop(signal?: NodeJS.Signals): Promise<void>
}

export type Setup = {
  files?: Record<string, string | Uint8Array>
  /** The user's own models.json. */
  models?: unknown[]
  env?: Record<string, string>
  /** How many messages the session seed-long has that is there already. */
  messages?: number
  /** An earlier host whose project folder and home are used again. */
  from?: Host
  /** A host that runs: this one has a project of its own beside it, and the same home. */
  beside?: Host
  /** The address to listen on; by default a free port. */
  port?: string
}

/** Starts the program without the keys of the machine that it runs on. */
export async function startHost({
  files = {},
  models,
  env = {},
  messages,
  from,
  beside,
  port = '0',
}: Setup = {}): Promise<Host> {
  const known = from ?? beside
  const root = known ? dirname(known.folder) : await mkdtemp(join(tmpdir(), 'atelier-e2e-'))
  const folder = join(root, beside ? 'till' : 'shop')
  const home = join(root, 'home')
  await mkdir(folder, { recursive: true })
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), content)
  }
  if (models) {
    await mkdir(home, { recursive: true, mode: 0o700 })
    await writeFile(join(home, 'models.json'), JSON.stringify({ models }))
  }
  if (messages) {
    await mkdir(home, { recursive: true, mode: 0o700 })
    const args = ['-home', home, '-folder', folder, '-messages', `${messages}`, '-lines', '10']
    await promisify(execFile)('go', ['run', './scripts/seed', ...args], { cwd: resolve('..') })
  }
  const child = spawn(program, ['serve', folder, '--addr', `127.0.0.1:${port}`], {
    env: { PATH: process.env.PATH, HOME: root, ATELIER_HOME: home, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let complaints = ''
  child.stderr.on('data', (chunk) => (complaints += chunk))
  const gone = once(child, 'exit')
  const url = await Promise.race([
    once(createInterface(child.stdout), 'line').then(([line]) => String(line)),
    gone.then(() => Promise.reject(new Error(`the program ended: ${complaints}`))),
  ])
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal)
    await gone
  }
  return { folder, home, url, stop }
}

export const discard = (host: Host) =>
  rm(dirname(host.folder), { recursive: true, force: true, maxRetries: 10 })
