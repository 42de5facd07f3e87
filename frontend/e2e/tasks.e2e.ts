import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Locator } from 'playwright-core'
import { expect, test } from 'vitest'
import { violations } from './axe'
import {
  openPage,
  openPanel,
  panelOf,
  prompt,
  shot,
  shots,
  unfoldTurn,
  untilFocused,
  untilUncovered,
} from './browser'
import { startHost } from './host'
import { startModel, type Round } from './model'
import { useStage } from './stage'

const stage = useStage()

/** A call that starts a background task. */
const left = (command: string) => ({ name: 'Bash', input: { command, run_in_background: true } })

async function start(rounds: Round[], mode: 'Allow everything' | 'Auto' = 'Allow everything') {
  const model = (stage.model = await startModel(rounds))
  const host = (stage.host = await startHost({
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  const opened = await openPage(stage.browser, host.url)
  await opened.page.getByLabel(/^Permission mode/).click()
  await opened.page.getByRole('option', { name: new RegExp(`^${mode}`) }).click()
  if (mode === 'Allow everything') {
    await opened.page
      .getByRole('dialog')
      .getByRole('button', { name: 'Allow everything', exact: true })
      .click()
  }
  await untilUncovered(opened.page)
  return { host, ...opened }
}

/** Waits until a text has changed a number of times. */
const changes = (text: Locator, times: number) =>
  text.evaluate(
    (it, wanted) =>
      new Promise<void>((resolve) => {
        let seen = 0
        const observer = new MutationObserver(() => {
          if (++seen < wanted) return
          observer.disconnect()
          resolve()
        })
        observer.observe(it, { childList: true, characterData: true, subtree: true })
      }),
    times,
  )

/** How many processes have a text on their command line. */
async function carrying(token: string): Promise<number> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'args'])
  return stdout.split('\n').filter((line) => line.includes(token)).length
}

// OAS-306, OAS-317
test('a background task is followed and stopped', async () => {
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
  const panel = panelOf(page, 'Running')
  const row = panel.getByRole('listitem')
  await row.getByText(/^running$/).waitFor()
  const tail = panel.getByRole('log')
  const ticks = async () => ((await tail.innerText()).match(/:\d\d:\d\d/g) ?? []).length
  const before = await ticks()
  await expect.poll(ticks).toBeGreaterThan(before + 1)
  expect(await carrying(token)).toBeGreaterThan(0)
  await shot(page, 'tasks')
  await page.emulateMedia({ colorScheme: 'dark' })
  await shot(page, 'tasks-dark')
  await page.emulateMedia({ colorScheme: 'light' })

  // From the call's card to the task's row with the keyboard.
  await unfoldTurn(page)
  await page.getByRole('button', { name: /^task 1, running/ }).press('Enter')
  const toggle = row.getByRole('button', { name: /^Show or hide the output/ })
  await untilFocused(toggle)
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await row.getByText(/^stopped$/).waitFor()
  await expect.poll(() => carrying(token)).toBe(0)
  await badge.waitFor({ state: 'detached' })
  await sidebar.getByRole('img', { name: /is running/ }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: /^task 1, stopped/ }).waitFor()
  await untilFocused(toggle)
  await shot(page, 'tasks-stopped')
  expect(offences).toEqual([])
})

test('sixty tasks, one of which prints megabytes, do not slow the page down', async () => {
  // No two megabytes are alike, so that whatever is shown of them is a change.
  const flood =
    'i=0; while :; do i=$((i+1)); yes "flood $i, which nobody reads line by line" | head -c 1000000; sleep 0.1; done'
  const chatter = 'while sleep 1; do date; done'
  const { page, offences } = await start([
    { calls: Array.from({ length: 59 }, () => left(chatter)) },
    { calls: [left(flood)] },
    { text: 'All of it is running.' },
  ])
  await prompt(page, 'Start everything')
  await page.getByText('All of it is running.').waitFor()
  await page.getByRole('button', { name: /^60 commands are running/ }).click()
  const panel = panelOf(page, 'Running')
  await expect.poll(() => panel.getByRole('listitem').count()).toBe(60)
  const first = panel.getByRole('log').first()
  const second = panel.getByRole('log').nth(1)
  await first.getByText('Earlier output is not shown.').waitFor()

  // Of the megabytes that are printed between two changes the page gets what it shows.
  const inspector = await page.context().newCDPSession(page)
  await inspector.send('Network.enable')
  let received = 0
  inspector.on('Network.webSocketFrameReceived', ({ response }) => {
    received += response.payloadData.length
  })
  await changes(first, 20)
  expect(received).toBeGreaterThan(0)
  expect(received).toBeLessThan(20 * 200_000) // all of it would be tens of megabytes
  expect((await first.innerText()).length).toBeLessThan(40_000)

  // The text does not move while the user has scrolled up.
  await first.hover()
  await page.mouse.wheel(0, -100)
  await panel.getByRole('button', { name: 'Jump to latest' }).waitFor()
  await changes(second, 1) // what was asked for before is there
  const seen = await first.innerText()
  await changes(second, 2)
  expect(await first.innerText()).toBe(seen)
  await shot(page, 'tasks-many')
  expect(offences).toEqual([])
})

test('tasks end with their session, and the page says so', async () => {
  const { page, host } = await start([
    { calls: [left('echo up; sleep 300'), left('echo broken >&2; exit 3')] },
    { text: 'One runs, one does not.' },
  ])
  const panel = await openPanel(page, 'Running')
  await panel.getByText(/^Commands that the agent leaves running/).waitFor()
  await shot(page, 'tasks-empty')
  await prompt(page, 'Start two')
  await page.getByText('One runs, one does not.').waitFor()
  const rows = panel.getByRole('listitem')
  await rows.nth(0).getByText('running').waitFor()
  await rows.nth(1).getByText('exit 3', { exact: true }).waitFor()

  await page.getByRole('button', { name: /^Session actions/ }).click()
  await page.getByRole('menuitem', { name: /^Delete/ }).click()
  await page.getByText('1 command that it left running is stopped.').waitFor()
  await shot(page, 'tasks-delete')
  await page.keyboard.press('Escape')

  await host.stop()
  await rows.nth(0).getByText('ended with the session').waitFor()
  await rows.nth(0).getByText('up', { exact: true }).waitFor()
  await rows.nth(1).getByText('exit 3', { exact: true }).waitFor()
  await shot(page, 'tasks-ended')
})

// K-01
test('the user’s own timeout of commands applies', async () => {
  const { page, offences } = await start([])
  const open = async () => {
    await page.getByRole('button', { name: 'Settings' }).click()
    await page.getByRole('tab', { name: 'Models' }).click()
  }
  await open()
  const field = page.getByRole('textbox', { name: 'Command timeout' })
  await expect.poll(() => field.inputValue()).toBe('')
  await shot(page, 'timeout')
  await page.getByRole('button', { name: '120 s' }).click()
  await field.fill('900')
  await page.getByText('It can be from 1 to 600 s: 600 s will be set.').waitFor()
  await shot(page, 'timeout-clamped')
  await field.press('Enter')
  await expect.poll(() => field.inputValue()).toBe('600')
  await page.reload()
  await open()
  await expect.poll(() => field.inputValue()).toBe('600')
  expect(offences).toEqual([])
})

// K-47
test('a server that the agent started in the mode auto is opened with one press', async () => {
  const serve = [
    'echo "<h1>Fresh figs</h1>" >index.html',
    'exec python3 -m http.server --bind 127.0.0.1 8127',
  ].join('; ')
  const { page, offences } = await start(
    [{ text: 'I serve the page.', calls: [left(serve)] }, { text: 'It is served.' }],
    'Auto',
  )
  await prompt(page, 'Serve the page')
  await page.getByText('It is served.').waitFor()
  await openPanel(page, 'Running')
  const panel = panelOf(page, 'Running')
  const open = panel.getByRole('button', { name: /^Open :8127 of/ })
  await open.waitFor()
  expect(await violations(page)).toEqual([])
  await shots(page, 'tasks-server')
  const opened = page.context().waitForEvent('page')
  await open.focus()
  await page.keyboard.press('Enter')
  await (await opened).getByRole('heading', { name: 'Fresh figs' }).waitFor()
  await panel.getByRole('button', { name: /^Stop / }).click()
  await open.waitFor({ state: 'detached' })
  expect(offences).toEqual([])
})
