import { execFile } from 'node:child_process'
import { mkdir, open, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { violations } from './axe'
import { openPage, prompt, shots, untilRest } from './browser'
import { startHost, type Host } from './host'
import { startModel } from './model'
import { useStage } from './stage'

const stage = useStage()
const program = resolve(process.env.ATELIER_BIN ?? '../build/bin/atelier-headless')

/** Runs a command of the program on a host's data. */
const run = (host: Host, ...args: string[]) =>
  promisify(execFile)(program, args, {
    cwd: host.folder,
    env: { PATH: process.env.PATH, HOME: dirname(host.home), ATELIER_HOME: host.home },
  })

/** A host with one session, which has been stopped. */
async function stageSession(signal?: NodeJS.Signals): Promise<Host> {
  const model = (stage.model = await startModel([{ text: 'A thimble.' }]))
  const env = { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' }
  const host = (stage.host = await startHost({ env }))
  const { page } = await openPage(stage.browser, host.url)
  await prompt(page, 'What is in the box?')
  await page.getByText('A thimble.').waitFor()
  await untilRest(page)
  await page.context().close()
  await host.stop(signal)
  return host
}

async function restart(host: Host) {
  const env = { COMPAT_BASE_URL: stage.model!.url, COMPAT_API_KEY: 'test-key' }
  stage.host = await startHost({ from: host, env })
  return openPage(stage.browser, stage.host.url)
}

test('the sessions of a moved folder are moved here with one click, which can be undone', async () => {
  const host = await stageSession()
  // The folder had another path, which no longer exists.
  const old = join(dirname(host.folder), 'old', 'shop')
  await mkdir(old, { recursive: true })
  const { stdout } = await run(host, 'sessions', 'relink', host.folder, old)
  expect(stdout).toContain(': 1 sessions')
  await rm(dirname(old), { recursive: true })
  const { page, offences } = await restart(host)
  const offer = page.getByRole('status').filter({ hasText: `1 session of ${old}` })
  const row = page.getByRole('button', { name: /What is in the box/ })
  await offer.waitFor()
  expect(await row.count()).toBe(0)
  expect(await violations(page)).toEqual([])
  await shots(page, 'store-moved')
  await offer.getByRole('button', { name: 'Move them here' }).press('Enter')
  await row.first().waitFor()
  await page.getByRole('button', { name: 'Undo' }).press('Enter')
  await offer.waitFor()
  await row.first().waitFor({ state: 'detached' })
  await offer.getByRole('button', { name: 'Leave them there' }).press('Enter')
  await offer.waitFor({ state: 'detached' })
  await page.reload()
  await page.getByRole('textbox', { name: 'Message', exact: true }).waitFor()
  expect(await offer.count()).toBe(0)
  expect(offences).toEqual([])
})

test('a database of a newer program is read, and the page says so', async () => {
  const host = await stageSession()
  const file = await open(join(host.home, 'atelier.db'), 'r+')
  await file.write(Buffer.from([0, 0, 0x27, 0x0f]), 0, 4, 60) // user_version
  await file.close()
  const { page, offences } = await restart(host)
  const strip = page.getByRole('status').filter({ hasText: 'A newer Atelier wrote the database' })
  await strip.waitFor()
  await page.getByText('A thimble.').waitFor()
  await prompt(page, 'And now?')
  await page.getByRole('alert').filter({ hasText: 'only reads it' }).waitFor()
  await shots(page, 'store-newer')
  expect(offences).toEqual([])
})

test('events that are lost with the write-ahead log are missed, and Settings counts the sessions', async () => {
  const host = await stageSession('SIGKILL')
  await rm(join(host.home, 'atelier.db-wal'))
  const { page } = await restart(host)
  const strip = page.getByRole('status').filter({ hasText: 'Events that were stored are missing' })
  await strip.waitFor()
  await shots(page, 'store-lost')
  await page.getByRole('button', { name: 'I have seen this' }).press('Enter')
  await strip.waitFor({ state: 'detached' })
  await page.keyboard.press('Control+,')
  await page.getByRole('tab', { name: 'About' }).press('Enter')
  await page.getByText('0 sessions.').waitFor()
  await shots(page, 'store-about')
})
