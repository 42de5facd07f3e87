/** Colours code after it was drawn. Its lines stay where they are, so that a long answer can be drawn in one frame. */
import { flushSync } from 'svelte'
import { afterPaint } from '../state/paint'
import { codeEngine } from './engine.svelte'
import { highlight } from './highlight'
import { memo } from './memo'

const known = memo((key) => {
  const end = key.indexOf('\n')
  return highlight(key.slice(end + 1), key.slice(0, end))
}, 300)

/** Like [highlight]. The latest results are remembered. */
export const coloured = (code: string, language: string): string =>
  codeEngine() ? known(`${language}\n${code}`) : highlight(code, language)

/** How long code is coloured after a frame, in milliseconds. */
const turn = 6
const waiting = new Set<() => void>()
let isAsked = false

/** Runs work after a frame in which there is time for it. It returns what takes it back. */
export function soon(work: () => void): () => void {
  waiting.add(work)
  ask()
  return () => waiting.delete(work)
}

function ask(): void {
  if (isAsked || waiting.size === 0) return
  isAsked = true
  void afterPaint().then(run)
}

function run(): void {
  isAsked = false
  const end = performance.now() + turn
  for (const work of waiting) {
    waiting.delete(work)
    flushSync(work)
    if (performance.now() > end) break
  }
  ask()
}
