import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { openPage, openPanelByKey, shots, tabTo, untilFocused, untilUncovered } from './browser'
import { startHost } from './host'
import { useStage } from './stage'

const stage = useStage()

const commands = ['echo one', 'echo two', 'echo three']
const project = JSON.stringify({
  hooks: { Stop: [{ hooks: commands.map((command) => ({ type: 'command', command })) }] },
})

/** Opens the project in two tabs. */
async function start() {
  const host = (stage.host = await startHost({ files: { '.agent/settings.json': project } }))
  const one = await openPage(stage.browser, host.url)
  await strip(one.page).waitFor()
  const storageState = await one.page.context().storageState()
  const other = await openPage(stage.browser, `${new URL('/', host.url)}`, { storageState })
  await strip(other.page).waitFor()
  return { one, other, both: [one.page, other.page] }
}

const strip = (page: Page) => page.getByRole('region', { name: 'What may this project run?' })
const dialog = (page: Page) => page.getByRole('dialog', { name: 'May this run?' })
const choice = (page: Page, name: string) => dialog(page).getByRole('button', { name, exact: true })

async function review(page: Page, command: string): Promise<void> {
  await untilUncovered(page)
  await page.keyboard.press('Alt+a')
  await tabTo(strip(page).getByRole('button', { name: 'Review…' }))
  await page.keyboard.press('Enter')
  await dialog(page).locator('.command').filter({ hasText: command }).waitFor()
}

/** Shows the hooks in the panel. */
async function listed(page: Page) {
  const panel = await openPanelByKey(page, 'Hooks')
  const list = panel.getByRole('button', { name: 'Hooks', exact: true })
  await tabTo(list)
  await page.keyboard.press('Enter')
  return panel.getByRole('listitem').locator('.state')
}

// K-35
test('of two tabs one decides what may run, and the other says so, by keyboard only', async () => {
  const { one, other, both } = await start()
  await Promise.all(both.map((page) => review(page, 'echo one')))
  await tabTo(choice(one.page, 'Trust exactly this'))
  await one.page.keyboard.press('Enter')
  await dialog(one.page).locator('.command').filter({ hasText: 'echo two' }).waitFor()
  await dialog(other.page).getByText('You trust it as it stands now.').waitFor()
  await shots(other.page, 'trust-elsewhere')
  await tabTo(choice(other.page, 'Close').last())
  await other.page.keyboard.press('Enter')
  await strip(other.page).getByText('This project wants to run 2 programs of its own.').waitFor()

  await review(other.page, 'echo two')
  await tabTo(choice(one.page, 'Never'))
  await tabTo(choice(other.page, 'Trust exactly this'))
  await Promise.all(both.map((page) => page.keyboard.press('Enter')))
  await strip(one.page).getByText('wants to run 1 program').waitFor()
  await strip(other.page).getByText('wants to run 1 program').waitFor()
  for (const page of both) await page.keyboard.press('Escape')
  await Promise.all(both.map((page) => dialog(page).waitFor({ state: 'detached' })))
  const [here, there] = [await listed(one.page), await listed(other.page)]
  const states = () => Promise.all([here.allInnerTexts(), there.allInnerTexts()])
  await expect.poll(async () => (await states()).map(({ length }) => length)).toEqual([3, 3])
  await expect
    .poll(async () => {
      const [ours, theirs] = await states()
      return ours.join() === theirs.join()
    })
    .toBe(true)
  expect([...one.offences, ...other.offences]).toEqual([])
})

test('the message field gets the focus once everything is decided, by keyboard only', async () => {
  stage.host = await startHost({ files: { '.agent/settings.json': project } })
  const { page, offences } = await openPage(stage.browser, stage.host.url)
  await strip(page).waitFor()
  await review(page, 'echo one')
  for (const command of commands) {
    await dialog(page).locator('.command').filter({ hasText: command }).waitFor()
    await tabTo(choice(page, 'Trust exactly this'))
    await page.keyboard.press('Enter')
  }
  await dialog(page).waitFor({ state: 'detached' })
  await untilFocused(page.getByRole('textbox', { name: 'Message', exact: true }))
  expect(offences).toEqual([])
})
