import { render } from '@testing-library/svelte'
import { tick } from 'svelte'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import CodeBlock from './CodeBlock.svelte'
import { soon } from './colouring'
import { loadGrammars } from './engine.svelte'
import type { Block } from './render'

const code = 'func main() {}'
const block = (open: boolean): Block & { kind: 'code' } => ({
  ...{ at: 0, kind: 'code', language: 'go', open },
  ...{ code, html: code },
})
/** The keyword that is coloured. */
const keyword = (box: Element) => box.querySelector('.hljs-keyword')?.textContent

beforeEach(async () => {
  await loadGrammars()
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** Ends a frame, after which one turn is taken. */
async function paint() {
  vi.advanceTimersToNextFrame()
  await vi.advanceTimersByTimeAsync(2)
  await tick()
}

test('code is drawn without colours, which it gets after that', async () => {
  const { container } = render(CodeBlock, { block: block(false) })
  expect(container.querySelector('code')?.textContent).toBe(code)
  expect(keyword(container)).toBeUndefined()
  await paint()
  expect(keyword(container)).toBe('func')
  expect(container.querySelector('code')?.textContent).toBe(code)
})

test('code that streams has its colours once it is complete, in the same frame', async () => {
  const { container, rerender } = render(CodeBlock, { block: block(true), atOnce: true })
  expect(keyword(container)).toBeUndefined()
  await rerender({ block: block(false) })
  expect(keyword(container)).toBe('func')
})

test('code that still grows has no colours until it is complete', async () => {
  const { container, rerender } = render(CodeBlock, { block: block(true) })
  await paint()
  expect(keyword(container)).toBeUndefined()
  await rerender({ block: block(false) })
  await paint()
  expect(keyword(container)).toBe('func')
})

test('code gets its colours once the grammars are loaded', async () => {
  vi.useRealTimers()
  vi.resetModules() // other tests have loaded them
  const { coloured } = await import('./colouring')
  const engine = await import('./engine.svelte')
  expect(coloured('int a;', 'c++')).toBe('int a;')
  await engine.loadGrammars()
  expect(coloured('int a;', 'c++')).toContain('<span class="hljs-type">int</span>')
})

test('work that waits is done in turns, in order, and can be taken back', async () => {
  let now = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
  const done: string[] = []
  const slow = (name: string) => () => {
    done.push(name)
    now += 10
  }
  soon(slow('first'))
  soon(slow('second'))
  soon(slow('taken back'))()
  expect(done).toEqual([])
  await paint()
  expect(done).toEqual(['first'])
  await paint()
  expect(done).toEqual(['first', 'second'])
  await paint()
  expect(done).toHaveLength(2)
  clock.mockRestore()
})
