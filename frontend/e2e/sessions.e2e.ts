import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { violations } from './axe'
import { openPage, prompt, shots, tabTo, untilFocused, untilRest, untilUncovered } from './browser'
import { startHost } from './host'
import { startModel } from './model'
import { useStage } from './stage'

const stage = useStage()

const list = (page: Page) => page.getByRole('navigation', { name: 'Sessions' })
const titles = (page: Page) => list(page).locator('[data-session] .title').allInnerTexts()
const focused = (page: Page) =>
  page.evaluate(() => document.activeElement?.querySelector('.title')?.textContent ?? '')

/** Goes to the field that filters the list. */
async function filter(page: Page) {
  await untilUncovered(page)
  await page.keyboard.press('Alt+s')
  await untilFocused(list(page).getByRole('searchbox'))
}

/** Goes to a row as somebody would: to the filter, on to the list, and down. */
async function goTo(page: Page, title: string) {
  await filter(page)
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  for (let at = 0; at < 9 && (await focused(page)) !== title; at++) {
    await page.keyboard.press('ArrowDown')
  }
  expect(await focused(page)).toBe(title)
}

/** Opens the menu of the row with the focus, and chooses an item. */
async function choose(page: Page, item: string) {
  await page.keyboard.press('Shift+F10')
  await chooseItem(page, item)
}

/** Chooses an item of the open menu. */
async function chooseItem(page: Page, item: string) {
  const entry = page.getByRole('menuitem', { name: item })
  await entry.waitFor()
  const isChosen = () => entry.evaluate((it) => it.matches('[data-highlighted]'))
  for (let at = 0; at < 9 && !(await isChosen()); at++) await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await entry.waitFor({ state: 'detached' })
}

test('sessions are tagged, pinned, archived, deleted, restored and found by keyboard only', async () => {
  const model = (stage.model = await startModel([
    { text: 'One.' },
    { text: 'Two.' },
    { text: 'Three.' },
  ]))
  const env = { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' }
  const host = (stage.host = await startHost({ env }))
  const { page, offences } = await openPage(stage.browser, host.url)
  for (const [text, answer] of [
    ['Alpha', 'One.'],
    ['Beta', 'Two.'],
    ['Gamma', 'Three.'],
  ] as const) {
    if (text !== 'Alpha') await page.keyboard.press('Alt+n')
    await prompt(page, text)
    await page.getByText(answer).waitFor()
    await untilRest(page)
  }
  await expect.poll(() => titles(page)).toEqual(['Gamma', 'Beta', 'Alpha'])

  await goTo(page, 'Alpha')
  await choose(page, 'Tags')
  await untilFocused(
    page.getByRole('dialog', { name: 'Tags of this session' }).getByRole('textbox'),
  )
  await page.keyboard.type('api #Later')
  await page.keyboard.press('Enter')
  await list(page).getByText('#later').waitFor()
  await expect.poll(() => focused(page)).toBe('Alpha')
  await choose(page, 'Pin')
  await list(page).getByRole('heading', { name: 'Pinned' }).waitFor()
  await expect.poll(() => titles(page)).toEqual(['Alpha', 'Gamma', 'Beta'])
  await shots(page, 'sessions-pinned')

  await goTo(page, 'Gamma')
  await choose(page, 'Archive')
  await expect.poll(() => titles(page)).toEqual(['Alpha', 'Beta'])
  await goTo(page, 'Beta')
  await page.keyboard.press('F2')
  await untilFocused(page.getByRole('dialog', { name: 'Rename session' }).getByRole('textbox'))
  await page.keyboard.type('Delta')
  await page.keyboard.press('Enter')
  await expect.poll(() => titles(page)).toEqual(['Alpha', 'Delta'])
  await goTo(page, 'Delta')
  await page.keyboard.press('Delete')
  await list(page).getByText('Deleted “Delta”').waitFor()
  // The focus goes to the row that is left.
  await expect.poll(() => focused(page)).toBe('Alpha')
  await expect.poll(() => titles(page)).toEqual(['Alpha'])
  await shots(page, 'sessions-deleted')
  expect(await violations(page)).toEqual([])
  await tabTo(list(page).getByRole('button', { name: 'Undo' }))
  await page.keyboard.press('Enter')
  await expect.poll(() => titles(page)).toEqual(['Alpha', 'Delta'])

  await goTo(page, 'Delta')
  await page.keyboard.press('Delete')
  await expect.poll(() => titles(page)).toEqual(['Alpha'])
  await filter(page)
  await page.keyboard.type('#api alp')
  await expect.poll(() => titles(page)).toEqual(['Alpha'])
  await page.keyboard.press('Control+a')
  await page.keyboard.type('nothing')
  await list(page).getByText('No session matches “nothing”.').waitFor()
  await page.keyboard.press('Control+a')
  await page.keyboard.press('Backspace')

  await tabTo(list(page).getByRole('button', { name: /^Which sessions are shown/ }))
  await page.keyboard.press('Enter')
  await chooseItem(page, 'Deleted')
  await expect.poll(() => titles(page)).toEqual(['Delta'])
  await shots(page, 'sessions-view-deleted')
  await goTo(page, 'Delta')
  await page.keyboard.press('Enter')
  await page.getByText('This session is deleted. Restore it to continue.').waitFor()
  expect(await violations(page)).toEqual([])
  await shots(page, 'sessions-open-deleted')
  await goTo(page, 'Delta')
  await page.keyboard.press('Delete')
  const confirm = page.getByRole('dialog', { name: 'Remove this session for good?' })
  await tabTo(confirm.getByRole('button', { name: 'Remove for good' }))
  await page.keyboard.press('Enter')
  await list(page).getByText('No session is deleted.').waitFor()
  expect(offences).toEqual([])
})
