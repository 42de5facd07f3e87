import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { violations } from './axe'
import {
  answerByKey,
  openPage,
  openPanelByKey,
  panelOf,
  pick,
  prompt,
  shot,
  shots,
  tabTo,
  untilFocused,
  untilRest,
} from './browser'
import { startHost } from './host'
import { startModel, type Round } from './model'
import { useStage } from './stage'

const stage = useStage()

const bash = (command: string) => ({ name: 'Bash', input: { command } })

async function start(rounds: Round[]) {
  const model = (stage.model = await startModel(rounds))
  const host = (stage.host = await startHost({
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
    files: { 'a.txt': 'a\n' },
  }))
  return { host, ...(await openPage(stage.browser, host.url)) }
}

const asks = (page: Page, text: string) =>
  page.getByRole('region', { name: 'Needs you: Bash' }).filter({ hasText: text })
/** The calls, without the effects that an open one lists. */
const rows = (page: Page) =>
  panelOf(page, 'Permissions')
    .getByRole('listitem')
    .filter({ has: page.locator('time') })

// OAS-630
test('calls are listed with what authorised them, and filtered, by keyboard only', async () => {
  const { page, offences } = await start([
    {
      calls: [
        { name: 'Read', input: { file_path: 'a.txt' } },
        bash('touch made'),
        bash('rm -rf made'),
      ],
    },
    { text: 'All is done.', calls: [] },
    { calls: [bash('touch later')] },
    { text: 'It is later.' },
  ])
  const panel = await openPanelByKey(page, 'Permissions')
  await tabTo(panel.getByRole('button', { name: 'What ran', exact: true }))
  await page.keyboard.press('Enter')
  await panel.getByText(/^Nothing has run yet/).waitFor()
  await prompt(page, 'Go')
  await asks(page, 'touch made').waitFor()
  await answerByKey(page)
  await asks(page, 'rm -rf made').waitFor()
  await answerByKey(page, 'd')
  await page.getByText('All is done.').waitFor()
  await untilRest(page)

  const facts = () => rows(page).locator(':scope > p').allInnerTexts()
  await expect
    .poll(facts)
    .toEqual([
      expect.stringContaining('You denied it.'),
      expect.stringContaining('You allowed it once.'),
      expect.stringContaining('Allowed by the mode “Ask first”.'),
    ])
  const denied = panel.getByRole('button', { name: /details of Bash rm -rf made/ })
  await tabTo(denied)
  await page.keyboard.press('Enter')
  await panel.getByText('deletes').first().waitFor()
  await shots(page, 'ledger')
  expect(await violations(page)).toEqual([])
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await violations(page)).toEqual([])
  await page.emulateMedia({ colorScheme: 'light' })

  await tabTo(panel.getByRole('combobox', { name: /^Authorised by/ }))
  await pick(page, 'The mode')
  await expect.poll(() => rows(page).count()).toBe(1)
  await rows(page).getByText('Allowed by the mode “Ask first”.').waitFor()
  await pick(page, 'A hook')
  await panel.getByText('No call matches.').waitFor()
  await pick(page, 'Any authority')
  await expect.poll(() => rows(page).count()).toBe(3)
  await tabTo(panel.getByRole('combobox', { name: /^Decision/ }))
  await pick(page, 'Denied')
  await expect.poll(() => rows(page).count()).toBe(1)
  await pick(page, 'Allowed or denied')
  await untilFocused(panel.getByRole('combobox', { name: /^Decision/ }))

  // A new call is listed at once, and its card says the same.
  await prompt(page, 'Go on')
  await answerByKey(page)
  await page.getByText('It is later.').waitFor()
  await expect.poll(() => rows(page).count()).toBe(4)
  expect(offences).toEqual([])
})

test('a card says what authorised its call', async () => {
  const { page, offences } = await start([
    { calls: [{ name: 'Read', input: { file_path: 'a.txt' } }] },
    { text: 'All is done.' },
  ])
  await prompt(page, 'Go')
  await page.getByText('All is done.').waitFor()
  await untilRest(page)
  await page.getByRole('button', { name: /details of Read a\.txt/ }).click()
  await page.getByText('Allowed by the mode “Ask first”.').waitFor()
  await shot(page, 'ledger-card')
  expect(offences).toEqual([])
})

/** Takes the page to the front or away from it, at a time of its clock. */
async function look(page: Page, isInFront: boolean, at: number) {
  await page.clock.setSystemTime(at)
  await page.evaluate((shown) => {
    document.hasFocus = () => shown
    window.dispatchEvent(new Event(shown ? 'focus' : 'blur'))
  }, isInFront)
}

test('a user who comes back is told what ran without asking, on every page, until the note is dismissed', async () => {
  const { page, host, offences } = await start([
    { calls: [bash('touch one'), { name: 'Read', input: { file_path: 'a.txt' } }] },
    { calls: [bash('touch two')] },
    { text: 'All is done.' },
  ])
  const begin = Date.now()
  await page.getByLabel(/^Permission mode/).click()
  await page.getByRole('option', { name: /^Allow everything/ }).click()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: 'Allow everything', exact: true })
    .click()
  await look(page, false, begin)
  await prompt(page, 'Go')
  await page.getByText('All is done.').waitFor()
  await untilRest(page)
  const strip = page.getByRole('region', { name: 'While you were away' })
  expect(await strip.count()).toBe(0)
  await look(page, true, begin + 72 * 60_000)
  await strip.getByText('2 commands ran without asking.').waitFor()
  expect(await strip.innerText()).toContain('(1 h 12 m)')
  await shots(page, 'away')
  expect(await violations(page)).toEqual([])

  // Another page says the same, also after the program was started again.
  await host.stop()
  const again = (stage.host = await startHost({
    from: host,
    env: { COMPAT_BASE_URL: stage.model!.url, COMPAT_API_KEY: 'test-key' },
  }))
  const other = await openPage(stage.browser, again.url)
  await other.page
    .getByRole('region', { name: 'While you were away' })
    .getByText('2 commands ran without asking.')
    .waitFor()
  await other.page.getByRole('button', { name: 'Show them' }).click()
  await expect
    .poll(() => rows(other.page).locator('.subject').allInnerTexts())
    .toEqual(['touch two', 'touch one'])
  const panel = panelOf(other.page, 'Permissions')
  await shot(other.page, 'away-ledger')
  await panel.getByRole('button', { name: 'Remove: Only without asking' }).click()
  await expect.poll(() => rows(other.page).count()).toBe(3)

  await other.page.getByRole('button', { name: 'Dismiss' }).focus()
  await other.page.keyboard.press('Enter')
  await other.page
    .getByRole('region', { name: 'While you were away' })
    .waitFor({ state: 'detached' })
  const message = other.page.getByRole('textbox', { name: 'Message', exact: true })
  await untilFocused(message)
  await other.page.reload()
  await message.waitFor()
  expect(await other.page.getByRole('region', { name: 'While you were away' }).count()).toBe(0)
  expect([
    ...offences.filter((it) => !/WebSocket|ERR_CONNECTION/.test(it)),
    ...other.offences,
  ]).toEqual([])
})
