import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { BrowserContext, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { violations } from './axe'
import { openPage, shots, untilFocused } from './browser'
import { startHost } from './host'
import { modelID, startModel } from './model'
import { useStage } from './stage'

const stage = useStage()

/** Another tab of Atelier, once it shows a project. */
async function tabOf(context: BrowserContext, open: () => Promise<void>, project: string) {
  const opened = context.waitForEvent('page')
  await open()
  const page = await opened
  await page.getByRole('button', { name: new RegExp(`^Project: ${project}\\b`) }).waitFor()
  return page
}

const menuOf = (page: Page) => page.getByRole('dialog', { name: 'Projects' })

test('projects are opened, found again and removed with the keyboard', async () => {
  stage.model = await startModel([
    { calls: [{ name: 'Write', input: { file_path: 'a.txt', content: 'a' } }] },
  ])
  stage.host = await startHost({
    env: { COMPAT_BASE_URL: stage.model.url, CODEANY_MODEL: `compat/${modelID}` },
  })
  const root = dirname(stage.host.folder)
  const api = join(root, 'api')
  await mkdir(join(api, '.git'), { recursive: true })
  await writeFile(join(api, '.git', 'HEAD'), 'ref: refs/heads/payments\n')
  await mkdir(join(root, 'apart'))

  const { page, offences } = await openPage(stage.browser, stage.host.url)
  const context = page.context()
  await page.getByRole('textbox', { name: 'Message', exact: true }).waitFor()
  await page.keyboard.press('Alt+p')
  const menu = menuOf(page)
  await menu.getByRole('option', { name: /^shop\b.*this tab/ }).waitFor()

  // Another folder, by its path.
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  const path = menu.getByRole('combobox', { name: 'Folder' })
  await untilFocused(path)
  await expect.poll(() => path.inputValue()).toBe('~/')
  await page.keyboard.type('ap')
  await menu.getByRole('option', { name: '~/apart' }).waitFor()
  await shots(page, 'projects-path')
  await page.keyboard.type('x')
  await expect.poll(() => menu.getByRole('option').count()).toBe(0)
  await page.keyboard.press('Enter')
  await menu.getByText('does not exist').waitFor()
  await path.fill('~/api')
  await expect.poll(() => menu.getByRole('option').count()).toBe(0)
  const second = await tabOf(context, () => page.keyboard.press('Enter'), 'api payments')
  expect(new URL(second.url()).host).not.toBe(new URL(page.url()).host)
  expect(second.url()).not.toContain('token')
  await menu.waitFor({ state: 'detached' })

  // A session there asks for something, which the first tab says.
  await second.getByRole('textbox', { name: 'Message', exact: true }).fill('Write it.')
  await second.keyboard.press('Enter')
  await second.getByRole('region', { name: 'Needs you: Write' }).waitFor()
  await page.keyboard.press('Alt+p')
  const other = menu.getByRole('option', { name: /^api\b/ })
  const lit = other.and(page.locator('.lit'))
  await other.getByText('1 session needs you').waitFor({ state: 'attached' })
  expect(await violations(page)).toEqual([])
  await shots(page, 'projects')

  // The newest one that is not open here is chosen at first. It is open already, so its server answers again.
  await lit.waitFor()
  const third = await tabOf(context, () => page.keyboard.press('Enter'), 'api payments')
  expect(new URL(third.url()).host).toBe(new URL(second.url()).host)
  await menu.waitFor({ state: 'detached' })

  // A folder that is gone is marked and removed.
  await rm(api, { recursive: true })
  await page.keyboard.press('Alt+p')
  await other.getByText('not found').waitFor()
  await untilFocused(menu.getByRole('combobox'))
  await page.keyboard.type('ap')
  await shots(page, 'projects-missing')
  await page.keyboard.press('Backspace')
  await page.keyboard.press('Backspace')
  await lit.waitFor()
  await page.keyboard.press('Delete')
  await other.waitFor({ state: 'detached' })
  await page.keyboard.press('Escape')
  await menu.waitFor({ state: 'detached' })
  expect(offences).toEqual([])
})

test('a tab that the browser does not allow is a link', async () => {
  stage.host = await startHost()
  const root = dirname(stage.host.folder)
  await mkdir(join(root, 'api'))
  const { page } = await openPage(stage.browser, stage.host.url, { locale: 'zh-CN' })
  await page.getByRole('button', { name: /^项目：shop/ }).click()
  await page.evaluate(() => (window.open = () => null))
  await page.getByRole('option', { name: '打开文件夹…' }).click()
  const path = page.getByRole('combobox', { name: '文件夹' })
  await path.fill('~/api')
  await page.getByRole('button', { name: '打开', exact: true }).click()
  const link = page.getByRole('link', { name: '打开项目' })
  await link.waitFor()
  await shots(page, 'projects-blocked-zh')
  const second = await page.context().newPage()
  await second.goto((await link.getAttribute('href'))!)
  await second.getByRole('button', { name: /^项目：api/ }).waitFor()
})
