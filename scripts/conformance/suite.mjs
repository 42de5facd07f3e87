// Runs the official conformance suite of the Model Context Protocol, and reads what it
// found. The suite needs a newer Node than the rest of the project, which comes as a
// package beside it.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const modules = join(import.meta.dirname, 'node_modules')
const node = join(modules, 'node/bin', process.platform === 'win32' ? 'node.exe' : 'node')
const program = join(modules, '@modelcontextprotocol/conformance/dist/index.js')

/** Why the suite cannot run, or false. */
export const missing = ![node, program].every(existsSync) && 'the packages of scripts/conformance are not installed: scripts/setup.sh test'

function start(args, env) {
  return new Promise((resolve) => {
    const options = { env: { ...process.env, ...env }, maxBuffer: 256 << 20, timeout: 300_000 }
    execFile(node, [program, ...args], options, (error, stdout, stderr) => resolve({ error, stdout, stderr }))
  })
}

/** The suite's scenarios for "client" or "server": names, and the versions of the protocol that they are for. */
export async function scenarios(side) {
  const { stdout } = await start(['list', `--${side}`])
  return [...stdout.matchAll(/^ {2}- (\S+) \[(.*)\]$/gm)].map(([, name, versions]) => ({ name, versions: versions.split(',') }))
}

/**
 * Runs the suite, such as ['client', '--command', …, '--suite', 'all'], and returns
 * its results by the names of its scenarios: the checks, and what a client printed.
 */
export async function run(args, env) {
  const directory = await mkdtemp(join(tmpdir(), 'conformance-'))
  try {
    const { stderr } = await start([...args, '--output-dir', directory, '--timeout', '120000'], env)
    const results = await read(directory)
    if (results.size === 0) throw new Error(`the suite has no results:\n${stderr}`)
    return results
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function read(directory) {
  const results = new Map()
  for (const path of await readdir(directory, { recursive: true })) {
    const found = path.replaceAll('\\', '/').match(/^(?:server-)?(.+)-\d{4}-\d\d-\d\dT[\d-]+Z\/checks\.json$/)
    if (!found) continue
    const text = (name) => readFile(join(directory, path, '..', name), 'utf8').catch(() => '')
    results.set(found[1], { checks: JSON.parse(await text('checks.json')), stdout: await text('stdout.txt'), stderr: await text('stderr.txt') })
  }
  return results
}

/** The checks of a result that failed or warn, in words. */
export function faults({ checks }) {
  return checks
    .filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
    .map(({ id, description, errorMessage, details }) => `${id}: ${errorMessage ?? description} ${JSON.stringify(details ?? {}).slice(0, 600)}`)
}

/** Whether a result has a check that the suite made. */
export const checked = ({ checks }) => checks.some(({ status }) => status === 'SUCCESS')
