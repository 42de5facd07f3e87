// Tests of the page's bench: its sums, and a small run in Chromium. The window's tests drive WebKitGTK by the same means.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../window-test/desktop.mjs'
import { busyShare, quantile, smoothness, spread, table, times } from './figures.mjs'

test('a quantile is one of the values', () => {
  const values = [5, 1, 4, 2, 3]
  assert.deepEqual([0, 0.5, 0.95, 1].map((share) => quantile(values, share)), [1, 3, 5, 5])
  assert.equal(quantile([7], 0.5), 7)
})

test('figures are printed with the digits that they deserve', () => {
  assert.equal(times([3.14, 120.4, 8]), '8.0 / 120 ms')
  assert.equal(spread([16.6, 17.2, 60]), '17 / 60 / 60 ms')
  assert.equal(spread([]), '–')
})

test('frames of more than 50 ms are long, and tasks are told only where the engine counts them', () => {
  assert.equal(smoothness({ frames: [16, 50, 51], tasks: 2 }), '50 / 51 / 51 ms, 1 of 3 long, 2 tasks')
  assert.equal(smoothness({ frames: [16], tasks: null }), '16 / 16 / 16 ms, 0 of 1 long')
})

test('the share of busy processors leaves out idle time and waiting for the disk', () => {
  const before = 'cpu  100 0 50 1000 10 0 0 0 0 0\ncpu0 1 1 1'
  assert.equal(busyShare(before, 'cpu  120 0 55 1070 15 0 0 0 0 0\n'), 0.25)
  assert.equal(busyShare(before, before), 0)
})

test('a table has a column for each engine, and a dash for what one does not tell', () => {
  const rows = new Map([['open', { A: '1 ms', Bee: '20 ms' }], ['type', { A: '3 ms' }]])
  assert.deepEqual(table(['A', 'Bee'], rows), ['          A     Bee', 'open   1 ms   20 ms', 'type   3 ms       –'])
})

test('a small run fills every row', () => {
  const small = ['--engine', 'Chromium', '--messages', '60', '--lines', '200', '--rate', '1000', '--runs', '1', '--frames', '5']
  const printed = execFileSync('node', [join(root, 'scripts/bench-page/main.mjs'), ...small], { encoding: 'utf8', timeout: 180_000 })
  const lines = printed.trimEnd().split('\n')
  const head = lines.findIndex((line) => /^ +Chromium$/.test(line))
  assert.ok(lines.length - head > 15, printed)
  for (const line of lines.slice(head + 1)) assert.match(line, /\S.* {3,}\S.*\d/)
})
