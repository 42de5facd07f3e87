import { expect, test } from 'vitest'
import { violations } from './axe'
import { openPage, panelOf, shot, tabTo } from './browser'
import { startHost } from './host'
import { useStage } from './stage'

const stage = useStage()

// OC-05: order and visibility of the panels are the user's, and outlive the page.
test('panels are moved and hidden by keyboard only', async () => {
  const host = (stage.host = await startHost({}))
  const { page, offences } = await openPage(stage.browser, host.url)
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  const rail = page.getByRole('navigation', { name: 'Panels' })
  const names = () => rail.getByRole('button').allInnerTexts()
  await rail.getByRole('button', { name: 'Show the names of the panels' }).press('Enter')
  await rail.getByText('Files').waitFor()
  expect((await names()).slice(0, 2)).toEqual(['Changes', 'Files'])
  await rail.getByRole('button', { name: 'Arrange the panels…' }).press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Panels' })
  await dialog.getByText('Checked panels are on the rail').waitFor()
  await shot(page, 'rail-arrange')
  expect(await violations(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Move Files up' }).press('Enter')
  await page.getByText('Files is in place 1 of', { exact: false }).waitFor({ state: 'attached' })
  const branches = dialog.getByRole('checkbox', { name: 'Branches' })
  await tabTo(branches)
  await page.keyboard.press('Space')
  await page.emulateMedia({ colorScheme: 'dark' })
  await shot(page, 'rail-arrange-dark')
  expect(await violations(page)).toEqual([])
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await expect
    .poll(async () => (await names()).slice(0, 3))
    .toEqual(['Files', 'Changes', 'Running'])
  await shot(page, 'rail-names-dark')

  await page.reload()
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  await expect
    .poll(async () => (await names()).slice(0, 3))
    .toEqual(['Files', 'Changes', 'Running'])
  // The keys follow the order, and what is hidden is still reached.
  await page.keyboard.press('Alt+1')
  await panelOf(page, 'Files').waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('branches')
  await page
    .getByRole('option', { name: /^Branches/ })
    .first()
    .waitFor()
  await page.keyboard.press('Enter')
  await panelOf(page, 'Branches').waitFor()
  expect(offences).toEqual([])
})
