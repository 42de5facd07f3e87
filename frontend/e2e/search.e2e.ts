import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { violations } from './axe'
import {
  openPage,
  pressIn,
  prompt,
  shots,
  tabTo,
  untilFocused,
  untilRest,
  untilUncovered,
} from './browser'
import { startHost } from './host'
import { startModel } from './model'
import { useStage } from './stage'

const stage = useStage()

/** What is marked in the conversation. */
const marked = (page: Page) =>
  page.evaluate(() =>
    [...((CSS.highlights.get('find-current') ?? []) as Iterable<Range>)].map(String),
  )

/** Two sessions, in the first of which a tool printed a thimble. */
async function stageStory() {
  const filler = Array.from({ length: 60 }, (_, k) => `Filler ${k} of the story.`).join('\n\n')
  const model = (stage.model = await startModel([
    { calls: [{ name: 'Read', input: { file_path: 'box.txt' } }] },
    { text: 'I looked.' },
    { text: filler },
    { text: 'Nothing <b>THIMBLE</b> here.' },
  ]))
  const host = (stage.host = await startHost({
    files: { 'box.txt': 'first line\nthe thimble lies in the box\n' },
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  const opened = await openPage(stage.browser, host.url)
  const { page } = opened
  await prompt(page, 'Look into the box')
  await page.getByText('I looked.').waitFor()
  await untilRest(page)
  await prompt(page, 'Tell a story')
  await page.getByText('Filler 59 of').waitFor()
  await untilRest(page)
  await page.keyboard.press('Alt+n')
  await prompt(page, 'Another session')
  await page.getByText('Nothing').last().waitFor()
  await untilRest(page)
  return opened
}

test('a search over all sessions opens at the hit, by keyboard only', async () => {
  const { page, offences } = await stageStory()
  await page.keyboard.press('Control+Shift+F')
  const dialog = page.getByRole('dialog', { name: 'Search all sessions' })
  const status = dialog.getByRole('status')
  await dialog.getByText('Finds what you and the models wrote').waitFor()
  expect(await violations(page)).toEqual([])
  await shots(page, 'search-empty')

  await page.keyboard.type('thimble')
  await expect.poll(() => status.innerText()).toBe('2 hits')
  const options = dialog.getByRole('option')
  // Not only the beginning of the word is found.
  const found = () => options.first().locator('mark').allInnerTexts()
  await expect.poll(found).toEqual(['THIMBLE'])
  expect(await options.count()).toBe(2)
  expect(await options.first().getAttribute('aria-selected')).toBe('true')
  expect(await options.nth(1).innerText()).toContain('Read: output')
  expect(await violations(page)).toEqual([])
  await shots(page, 'search')

  // A filter is typed, removed as a chip, and offered in a menu.
  await page.keyboard.type(' tool:read cost:much')
  await expect.poll(() => status.innerText()).toBe('1 hit')
  await shots(page, 'search-filters')
  const chip = dialog.getByRole('button', { name: 'Remove the filter tool:read' })
  await tabTo(chip)
  await page.keyboard.press('Enter')
  await expect.poll(() => status.innerText()).toBe('2 hits')
  await tabTo(dialog.getByRole('button', { name: 'Add a filter' }))
  await page.keyboard.press('Enter')
  await page.getByRole('menuitem', { name: 'Tool' }).waitFor()
  await shots(page, 'search-menu')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  const field = dialog.getByRole('combobox')
  await expect.poll(() => field.inputValue()).toBe('thimble cost:much tool:')
  await expect.poll(() => field.evaluate((it) => it === document.activeElement)).toBe(true)
  await page.keyboard.type('nowhere')
  await expect.poll(() => status.innerText()).toContain('Nothing found in this project.')
  await page.keyboard.press('Control+a')
  await page.keyboard.type('thimble')
  await expect.poll(found).toEqual(['THIMBLE'])

  // What a tool printed is shown in its card, in the other session.
  await page.keyboard.press('ArrowDown')
  await options.nth(1).and(page.locator('[aria-selected=true]')).waitFor()
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'hidden' })
  await expect.poll(() => marked(page)).toEqual(['thimble'])
  await page.getByText('the thimble lies').waitFor()
  await shots(page, 'search-hit')
  await page.keyboard.press('Escape')
  await expect.poll(() => marked(page)).toEqual([])

  // The title, from the button. The dialog has the last search.
  const sidebar = page.getByRole('navigation', { name: 'Sessions' })
  await pressIn(sidebar, sidebar.getByRole('button', { name: 'Search all sessions' }))
  await untilFocused(field)
  await expect.poll(() => field.inputValue()).toBe('thimble')
  await page.keyboard.type('another in:title')
  await expect.poll(() => status.innerText()).toBe('1 hit')
  await page.keyboard.press('Enter')
  await page.getByText('Nothing').last().waitFor()
  await untilUncovered(page)
  const message = page.getByRole('textbox', { name: 'Message', exact: true })
  await message.focus()
  await page.keyboard.press('Control+Shift+F')
  await untilFocused(field)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'hidden' })
  await untilFocused(message)
  expect(offences).toEqual([])
})

test('a hit in another project opens that project at the hit, by keyboard only', async () => {
  const { page, offences } = await stageStory()
  await mkdir(join(dirname(stage.host!.folder), 'apart'))
  await page.keyboard.press('Alt+p')
  const menu = page.getByRole('dialog', { name: 'Projects' })
  await menu.getByRole('option', { name: /^shop\b/ }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  const path = menu.getByRole('combobox', { name: 'Folder' })
  await untilFocused(path)
  await expect.poll(() => path.inputValue()).toBe('~/')
  await page.keyboard.type('apart')
  await expect.poll(() => menu.getByRole('option').count()).toBe(0) // it is whole
  const apart = await tabOf(page, 'Enter')
  await apart.getByRole('button', { name: /^Project: apart\b/ }).waitFor()
  await page.close() // so that nobody but the tab that opens goes there

  await apart.keyboard.press('Control+Shift+F')
  const dialog = apart.getByRole('dialog', { name: 'Search all sessions' })
  await untilFocused(dialog.getByRole('combobox'))
  await apart.keyboard.type('thimble lies')
  await dialog.getByText('Nothing found in this project.').waitFor()
  await tabTo(dialog.getByRole('switch', { name: 'All projects' }))
  await apart.keyboard.press('Space')
  await expect.poll(() => dialog.getByRole('status').innerText()).toBe('1 hit')
  await tabTo(dialog.getByRole('combobox'))
  const there = await tabOf(apart, 'Enter')
  await there.getByRole('button', { name: /^Project: shop\b/ }).waitFor()
  await there.getByText('the thimble lies').waitFor()
  await expect.poll(() => marked(there)).toEqual(['thimble'])
  await shots(there, 'search-elsewhere')
  expect(offences).toEqual([])
})

/** The tab that a key opens. */
async function tabOf(page: Page, key: string) {
  const [tab] = await Promise.all([page.context().waitForEvent('page'), page.keyboard.press(key)])
  return tab
}
