import { expect, test } from 'vitest'
import type { Call } from '../api'
import { historyOf, Log as Events, message, noUsage, text } from '../model/testing'
import { Log } from '../state/log.svelte'
import { readNewer, readOlder } from './reading'

/** A log whose middle has more events that draw nothing than a page has. */
function logWithTitles() {
  const events = new Events()
  const turn = (name: string) => {
    events.add('user_input', { text: name })
    events.add('assistant_text_end', message([text(`answer to ${name}`)]))
    events.add('processing_end', { reason: 'done', rounds: 0, usage: noUsage })
  }
  for (let n = 0; n < 60; n++) turn(`early ${n}`)
  for (let n = 0; n < 1300; n++) events.add('title', { text: `Title ${n}` })
  for (let n = 0; n < 60; n++) turn(`late ${n}`)
  const call = (async (_method: string, range: object) =>
    historyOf(events, range)) as unknown as Call
  const log = new Log('s', call, (problem) => {
    throw problem
  })
  log.newest.take(events.durable.slice(-100), true)
  return { events, log, rows: () => log.shown.view.entries.length }
}

test('reading on after a passage goes on until something is added', async () => {
  const { log, rows } = logWithTitles()
  await log.reach(1)
  const known = rows()
  await readNewer(log, log.shown, rows)
  expect(rows()).toBeGreaterThan(known)
})

test('reading before a passage goes on until something is added', async () => {
  const { log, rows } = logWithTitles()
  await readOlder(log, log.newest, rows)
  const known = rows()
  await readOlder(log, log.newest, rows)
  expect(rows()).toBeGreaterThan(known)
})

test('reading ends at the ends of the log', async () => {
  const { events, log, rows } = logWithTitles()
  while (log.newest.more) await readOlder(log, log.newest, rows)
  expect(log.newest.from).toBe(1)
  await readOlder(log, log.newest, rows)
  await readNewer(log, log.newest, rows)
  expect(log.newest.view.seq).toBe(events.durable.length)
})
