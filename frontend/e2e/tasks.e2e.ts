import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { launch, openPage, prompt, shot } from './browser'
import { discard, startHost, type Host } from './host'
import { startModel, type Model, type Round } from './model'

let browser: Browser
let host: Host | undefined
let model: Model | undefined

beforeEach(async () => {
  browser = await launch()
})
afterEach(async () => {
  await browser.close()
  await host?.stop()
  model?.stop()
  if (host) await discard(host)
  host = model = undefined
})

/** A call that leaves a command running. */
const left = (command: string) => ({ name: 'Bash', input: { command, run_in_background: true } })

async function start(rounds: Round[]) {
  model = await startModel(rounds)
  host = await startHost({ env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' } })
  const opened = await openPage(browser, host.url)
  await opened.page.getByLabel(/^Permission mode/).click()
  await opened.page.getByRole('option', { name: /^Allow everything/ }).click()
  return { host, ...opened }
}

const panelOf = (page: Page) => page.getByRole('complementary', { name: 'Panel' })

/** How many processes have a text on their command line. */
async function carrying(token: string): Promise<number> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'args'])
  return stdout.split('\n').filter((line) => line.includes(token)).length
}

// OAS-306, OAS-317
test('a command that was left running is followed and stopped', async () => {
  const token = `clock-${process.pid}-${Date.now()}`
  const command = `sh -c 'while :; do date; sleep 0.3; done # ${token}'`
  const { page, offences } = await start([
    { text: 'I start the clock.', calls: [left(command)] },
    { text: 'The clock is running.' },
  ])
  await prompt(page, 'Start a clock')
  await page.getByText('The clock is running.').waitFor()

  const badge = page.getByRole('button', { name: /^1 command is running/ })
  await badge.waitFor()
  const sidebar = page.getByRole('navigation', { name: 'Sessions' })
  await sidebar.getByRole('img', { name: '1 command is running' }).waitFor()
  await badge.click()
  const panel = panelOf(page)
  const row = panel.getByRole('listitem')
  await row.getByText(/^running$/).waitFor()
  const tail = panel.getByRole('log')
  const ticks = async () => ((await tail.innerText()).match(/:\d\d:\d\d/g) ?? []).length
  const before = await ticks()
  await expect.poll(ticks, { timeout: 10_000 }).toBeGreaterThan(before + 1)
  expect(await carrying(token)).toBeGreaterThan(0)
  await shot(page, 'tasks')
  await page.emulateMedia({ colorScheme: 'dark' })
  await shot(page, 'tasks-dark')
  await page.emulateMedia({ colorScheme: 'light' })

  // From the call's card to its row, by the keyboard.
  await page.getByRole('button', { name: /^task 1, running/ }).press('Enter')
  const toggle = row.getByRole('button', { name: /^Show or hide the output/ })
  await expect.poll(() => toggle.evaluate((e) => e === document.activeElement)).toBe(true)
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await row.getByText(/^stopped$/).waitFor()
  expect(await carrying(token)).toBe(0)
  await badge.waitFor({ state: 'detached' })
  expect(await sidebar.getByRole('img', { name: /is running/ }).count()).toBe(0)
  await page.getByRole('button', { name: /^task 1, stopped/ }).waitFor()
  await expect.poll(() => toggle.evaluate((e) => e === document.activeElement)).toBe(true)
  await shot(page, 'tasks-stopped')
  expect(offences).toEqual([])
})
