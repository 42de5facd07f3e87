import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { violations } from './axe'
import { openPage, shot, shots, untilFocused } from './browser'
import { startHost } from './host'
import { modelID, startModel } from './model'
import { useStage } from './stage'

const stage = useStage()
const guideOf = (page: Page) => page.getByRole('region', { name: 'First steps' })

/** Presses Tab until the focus is on an element with this name. */
async function tabTo(page: Page, name: string) {
  await page.getByRole('button', { name }).first().waitFor()
  for (let at = 0; at < 200; at++) {
    const it = await page.evaluate(() => {
      const { activeElement } = document
      return activeElement?.getAttribute('aria-label') ?? activeElement?.textContent?.trim() ?? ''
    })
    if (it.startsWith(name)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`Tab does not reach ${name}`)
}

test('the guide leads a new user to a first answer with the keyboard, once', async () => {
  let answer = () => {}
  const rest = new Promise<void>((resolve) => (answer = resolve))
  stage.model = await startModel([{ status: 401 }, { rest, text: 'A shop with two parts.' }])
  stage.host = await startHost({
    files: { '.git/HEAD': 'ref: refs/heads/main\n', 'README.md': '# Shop\n' },
  })
  const { page, offences } = await openPage(stage.browser, stage.host.url)
  const guide = guideOf(page)
  const step = guide.locator('[aria-current=step]')
  await step.getByRole('heading', { name: 'Connect a model' }).waitFor()
  expect(await violations(page)).toEqual([])
  await shots(page, 'guide-1')

  // A key, for the address of the scripted model.
  await page.getByRole('textbox', { name: 'Message', exact: true }).press('Shift+F6')
  await tabTo(page, 'Another provider or endpoint')
  await page.keyboard.press('Enter')
  const settings = page.getByRole('dialog', { name: 'Settings' })
  await settings.getByRole('button', { name: 'Add endpoint' }).press('Enter')
  await untilFocused(settings.getByLabel('Name', { exact: true }))
  await page.keyboard.type('House')
  await settings.getByLabel('Base URL').fill(stage.model.url)
  await page.keyboard.press('Enter')
  await settings.getByRole('listitem').filter({ hasText: 'House' }).waitFor()
  await settings.getByLabel('Base URL').waitFor({ state: 'detached' }) // it takes the first Escape
  await page.keyboard.press('Escape')
  await settings.waitFor({ state: 'detached' })
  await step.getByRole('heading', { name: 'Know what it may do' }).waitFor()
  await guide.getByText('Your messages go to').waitFor()
  await guide.getByRole('button', { name: 'Change the key or the provider' }).press('Enter')
  await settings.getByRole('listitem').filter({ hasText: 'House' }).waitFor()
  await page.keyboard.press('Escape')
  await settings.waitFor({ state: 'detached' })
  await shots(page, 'guide-2')

  await page.getByRole('textbox', { name: 'Message', exact: true }).focus()
  await page.keyboard.press('Shift+F6')
  await tabTo(page, 'Go on')
  await page.keyboard.press('Enter')
  await step.getByRole('heading', { name: 'Ask a first question' }).waitFor()
  expect(await violations(page)).toEqual([])
  await shots(page, 'guide-3')
  await tabTo(page, 'What changed lately?')
  await page.keyboard.press('Enter')

  // The first attempt fails, so the guide stays.
  await page.getByText('The first steps are not finished.').waitFor()
  await shot(page, 'guide-4-failed')
  await tabTo(page, 'Go on with them')
  await page.keyboard.press('Enter')
  await guide.waitFor()
  await page.getByRole('textbox', { name: 'Message', exact: true }).press('Shift+F6')
  await tabTo(page, 'Explain how')
  await page.keyboard.press('Enter')
  await page.getByText('your first answer is on its way').waitFor()
  await shot(page, 'guide-5-asking')
  answer()
  await page.getByText('A shop with two parts.').waitFor()
  await page.getByText('your first answer is on its way').waitFor({ state: 'detached' })
  expect(stage.model.heard.at(-1)).toContain('Only read; change nothing.')

  // It does not come back, neither here nor in another project.
  await page.keyboard.press('Alt+n')
  await page.getByRole('heading', { name: 'What shall we work on in shop?' }).waitFor()
  expect(await guide.count()).toBe(0)
  await page.reload()
  await page.getByRole('textbox', { name: 'Message', exact: true }).waitFor()
  expect(await guide.count()).toBe(0)
  expect(offences).toEqual([])
})

test('the guide is dismissed for good, and the help brings it back', async () => {
  stage.host = await startHost()
  const { home, folder } = stage.host
  const { page } = await openPage(stage.browser, stage.host.url)
  const guide = guideOf(page)
  await guide.waitFor()
  await page.getByRole('textbox', { name: 'Message', exact: true }).press('Shift+F6')
  await tabTo(page, 'Do not show this again')
  await page.keyboard.press('Enter')
  await guide.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Show me around' }).waitFor()
  // Another tab, which is led by what is stored.
  const other = await page.context().newPage()
  await expect
    .poll(async () => {
      await other.goto(new URL('/', page.url()).href)
      const tour = other.getByRole('button', { name: 'Show me around' })
      await tour.or(guideOf(other)).first().waitFor()
      return guideOf(other).count()
    })
    .toBe(0)

  // Another start, with no history but the decision.
  await stage.host.stop()
  await rm(join(home, 'projects'), { recursive: true })
  stage.host = await startHost({ from: { ...stage.host, home, folder } })
  const again = await openPage(stage.browser, stage.host.url)
  await again.page.getByRole('button', { name: 'Show me around' }).waitFor()
  expect(await guideOf(again.page).count()).toBe(0)

  await again.page.keyboard.press('Control+,')
  await again.page.getByRole('tab', { name: 'About' }).click()
  await tabTo(again.page, 'Show the first steps')
  await again.page.keyboard.press('Enter')
  await guideOf(again.page).waitFor()
})

test('a user with a key does not see the guide', async () => {
  stage.model = await startModel([])
  stage.host = await startHost({
    env: { COMPAT_BASE_URL: stage.model.url, CODEANY_MODEL: `compat/${modelID}` },
  })
  const { page } = await openPage(stage.browser, stage.host.url)
  await page.getByRole('heading', { name: 'What shall we work on in shop?' }).waitFor()
  expect(await guideOf(page).count()).toBe(0)
})

test('the guide in Chinese', async () => {
  stage.host = await startHost()
  const { page } = await openPage(stage.browser, stage.host.url, { locale: 'zh-CN' })
  await page.getByRole('heading', { name: '连接模型' }).waitFor()
  await shots(page, 'guide-zh')
})
