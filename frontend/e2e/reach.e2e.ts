import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPage, shot, untilArmed, untilFocused, untilUncovered } from './browser'
import { closePages, launch } from './chromium'
import { discard, startHost, type Host } from './host'

let browser: Browser
let host: Host

beforeAll(async () => {
  browser = await launch()
  host = await startHost({ files: { 'README.md': '# Shop\n' } })
})
afterAll(async () => {
  if (browser) await closePages(browser)
  await host?.stop()
  if (host) await discard(host)
})

test('a session with the keyboard alone, from the first message to the last approval, then in Chinese', async () => {
  const { page, offences } = await openPage(browser, host.url)
  const { keyboard } = page
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))

  // The composer is focused at first. Shift+Tab in it steps through the modes.
  const message = page.getByRole('textbox', { name: 'Message' })
  await untilFocused(message)
  await keyboard.press('Shift+Tab')
  await page.getByLabel('Permission mode: Plan').waitFor()
  for (let i = 0; i < 4; i++) await keyboard.press('Shift+Tab')
  await page.getByLabel('Permission mode: Ask first').waitFor()

  await keyboard.type('Show me around')
  await keyboard.press('Enter')
  for (const [tool, key] of [
    ['Write', 'a'],
    ['Edit', 's'],
    ['Bash', 'd'],
  ] as const) {
    const question = page.getByRole('region', { name: `Needs you: ${tool}` })
    await question.waitFor()
    // A letter that is typed in the composer does not answer the question.
    await keyboard.press('Alt+m')
    await untilFocused(message)
    await keyboard.press(key)
    await expect.poll(() => message.inputValue()).toBe(key)
    await keyboard.press('Backspace')
    await keyboard.press('Alt+a')
    await expect.poll(focused).toBe(`Needs you: ${tool}`)
    await untilArmed(question)
    await keyboard.press(key)
    await question.waitFor({ state: 'detached' })
  }
  await page.getByRole('button', { name: /· Demo script$/ }).waitFor()

  await keyboard.press('Alt+s')
  await expect.poll(focused).toBe('Filter sessions')
  await keyboard.press('Control+b')
  await page.getByRole('navigation', { name: 'Sessions' }).waitFor({ state: 'detached' })
  await keyboard.press('Control+b')
  await page.getByRole('navigation', { name: 'Sessions' }).waitFor()

  // Rename through the menu.
  const row = page.locator('[data-session]').first()
  await row.focus()
  await keyboard.press('Tab')
  await keyboard.press('Enter')
  await page.locator('[role=menuitem][data-highlighted]', { hasText: 'Rename' }).waitFor()
  await keyboard.press('Enter')
  await untilFocused(page.getByRole('dialog', { name: 'Rename session' }).getByRole('textbox'))
  await keyboard.type('The tour')
  await keyboard.press('Enter')
  await page.getByRole('heading', { name: 'The tour' }).waitFor()
  await untilUncovered(page)

  await keyboard.press('Control+,')
  await page.getByRole('tab', { name: 'Keys' }).focus()
  await keyboard.press('ArrowRight')
  await page.getByRole('tab', { name: 'Models', selected: true }).waitFor()
  await keyboard.press('ArrowRight')
  await page.getByRole('tab', { name: 'Tools', selected: true }).waitFor()
  await keyboard.press('ArrowRight')
  await page.getByRole('tab', { name: 'Commands', selected: true }).waitFor()
  await keyboard.press('ArrowRight')
  await page.getByRole('radio', { name: 'Dark' }).check()
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme)
  await expect.poll(theme).toBe('dark')
  await page.getByRole('radio', { name: '简体中文' }).check()
  await page.getByRole('dialog', { name: '设置' }).waitFor()
  await keyboard.press('Escape')
  await shot(page, 'reach-zh-dark')

  await page.reload()
  await page.getByRole('textbox', { name: '消息' }).waitFor()
  await expect.poll(() => page.evaluate(() => document.documentElement.lang)).toBe('zh-CN')
  await expect.poll(theme).toBe('dark')
  await keyboard.press('Alt+n')
  await page.getByRole('button', { name: '带我看看' }).waitFor()
  await shot(page, 'reach-zh-empty')
  expect(offences).toEqual([])
})

test('in a narrow window the sidebar floats over the conversation', async () => {
  const context = browser.contexts()[0]!
  const { page } = await openPage(browser, `${new URL('/', host.url)}`, {
    storageState: await context.storageState(),
    viewport: { width: 620, height: 700 },
  })
  // The first journey chose Chinese.
  const sidebar = page.getByRole('navigation', { name: '会话' })
  await page.locator('textarea').waitFor() // the shortcuts work once the page is rendered
  expect(await sidebar.count()).toBe(0)
  await page.keyboard.press('Control+b')
  await sidebar.waitFor()
  await shot(page, 'reach-narrow')
  await page.keyboard.press('Escape')
  await sidebar.waitFor({ state: 'detached' })
})
