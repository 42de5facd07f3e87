// The memory of a window that nobody uses, on a screen of its own.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { processMemory } from './engines.mjs'

/** When a window has done what its start leaves to do. */
const settled = 12_000

/** The proportional set size in bytes of a window's processes. */
export async function windowMemory(program, args, env) {
  const xvfb = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1280x800x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  })
  try {
    const [number] = await once(xvfb.stdio[3], 'data')
    const { WAYLAND_DISPLAY: _, ...inherited } = process.env
    const window = spawn(program, args, {
      env: { ...inherited, DISPLAY: `:${String(number).trim()}`, NO_AT_BRIDGE: '1', LANG: 'C.UTF-8', ...env },
      stdio: 'ignore',
    })
    const ended = once(window, 'exit')
    await sleep(settled)
    const memory = processMemory(window.pid).all
    window.kill()
    await ended
    return memory
  } finally {
    xvfb.kill()
  }
}
