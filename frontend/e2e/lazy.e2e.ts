// Parts that the first screen does not need are loaded after it, and say so if that fails.
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { violations } from './axe'
import { openPage, panelOf, shots, untilFocused } from './browser'
import { startHost } from './host'
import { useStage } from './stage'

const stage = useStage()

async function open(locale = 'en') {
  const host = (stage.host = await startHost({ files: {} }))
  const { page, offences } = await openPage(stage.browser, host.url, { locale })
  await composer(page).waitFor()
  return { host, page, offences }
}

const composer = (page: Page) => page.locator('textarea').first()
const search = (page: Page) => page.getByRole('combobox', { name: 'Search the settings' })
const later =
  /assets\/(\w+Panel|SettingsBody|SearchBody|UndoDialog|ContextDialog|ForkDialog|ExportDialog|ImportDialog|RuleForm|QuestionForm|PlanFirstForm|PlanForm|TrustReview|ServerAsk|QueueList|Palette|Guide|grammars)-.*\.js/
/** The panels, and the other parts. */
const parts = 17 + 17
/** What a browser reads of scripts before it draws the first screen, in bytes that are not compressed. */
const mostScript = 1_020_000

/** The parts that the page has loaded, in their order. */
const loaded = async (page: Page) => {
  const names = await page.evaluate(() =>
    performance.getEntriesByType('resource').map(({ name }) => name),
  )
  return names.flatMap((name) => later.exec(name)?.[1] ?? [])
}

test('Settings and the panels open at once, also when the program has ended', async () => {
  const { host, page } = await open()
  await page.addInitScript(() => {
    const observer = new MutationObserver(() => {
      if (!document.querySelector('textarea')) return
      performance.mark('first screen')
      observer.disconnect()
    })
    observer.observe(document, { childList: true, subtree: true })
  })
  await page.reload()
  await expect.poll(() => loaded(page)).toHaveLength(parts)
  const first = await page.evaluate(
    () => performance.getEntriesByName('first screen')[0]!.startTime,
  )
  const scripts = await page.evaluate(() =>
    performance
      .getEntriesByType('resource')
      .map((entry) => entry as PerformanceResourceTiming)
      .filter(({ name }) => name.endsWith('.js'))
      .map(({ name, startTime, decodedBodySize }) => ({ name, startTime, size: decodedBodySize })),
  )
  const read = scripts.filter(({ startTime }) => startTime <= first)
  // A new user sees the guide at once.
  expect(read.filter(({ name }) => later.test(name) && !/Guide-/.test(name))).toEqual([])
  const sum = read.reduce((total, { size }) => total + size, 0)
  expect(sum).toBeGreaterThan(100_000)
  expect(sum).toBeLessThan(mostScript)
  await host.stop()
  await page.keyboard.press('Control+,')
  await search(page).waitFor()
  await untilFocused(search(page))
  await page.keyboard.press('Escape')
  await search(page).waitFor({ state: 'detached' })
})

test('a part that cannot be loaded says so and is tried again', async () => {
  const { page } = await open()
  await page.route(later, (route) => route.abort())
  await page.reload()
  await composer(page).waitFor()
  await composer(page).focus()
  await page.keyboard.press('Control+,')
  const settings = page.getByRole('dialog', { name: 'Settings' })
  await settings.getByRole('alert').getByText('could not be loaded').waitFor()
  await shots(page, 'not-loaded')
  expect(await violations(page)).toEqual([])
  const retry = settings.getByRole('button', { name: 'Try again' })
  await retry.focus()
  await page.keyboard.press('Enter')
  await settings.getByRole('alert').waitFor()
  await page.unroute(later)
  // A press while the last attempt still fails is part of that attempt.
  await expect
    .poll(async () => {
      if ((await search(page).count()) === 0) await page.keyboard.press('Enter')
      return search(page).count()
    })
    .toBe(1)
  await untilFocused(search(page))
  await page.keyboard.press('Escape')
  await search(page).waitFor({ state: 'detached' })
  await untilFocused(composer(page))

  const missed = new Set<string>()
  await page.route(later, (route) => {
    missed.add(later.exec(route.request().url())![1]!)
    return route.abort()
  })
  await page.reload()
  await composer(page).waitFor()
  await page.getByRole('button', { name: /^Cost/ }).last().press('Enter')
  const panel = panelOf(page, 'Cost')
  await panel.getByRole('alert').waitFor()
  // Then the page itself no longer tries any of them.
  await expect.poll(() => missed.size).toBe(parts)
  await page.unroute(later)
  await panel.getByRole('button', { name: 'Try again' }).press('Enter')
  await panel.getByRole('alert').waitFor({ state: 'detached' })
  await panel.locator('.view > *').first().waitFor()
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.getAttribute('role')))
    .toBe('group')
})

test('a dialog that cannot be loaded gives the focus back, also once it was loaded', async () => {
  const { page } = await open()
  await page.route(later, (route) => route.abort())
  await page.reload()
  const opener = page.getByRole('button', { name: 'Import…' })
  await opener.press('Enter')
  const missing = page.getByRole('dialog', { name: 'Loading…' })
  await missing.getByRole('alert').getByText('could not be loaded').waitFor()
  await shots(page, 'dialog-not-loaded')
  expect(await violations(page)).toEqual([])
  await page.keyboard.press('Escape')
  await missing.waitFor({ state: 'detached' })
  await untilFocused(opener)

  await page.keyboard.press('Enter')
  await missing.getByRole('alert').waitFor()
  await page.unroute(later)
  await missing.getByRole('button', { name: 'Try again' }).press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Import transcripts' })
  await dialog.waitFor()
  await expect
    .poll(() => dialog.evaluate((element) => element.contains(document.activeElement)))
    .toBe(true)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await untilFocused(opener)
})

test('the words about a part that is missing are Chinese', async () => {
  const { page } = await open('zh-CN')
  await page.route(later, (route) => route.abort())
  await page.reload()
  await composer(page).waitFor()
  await page.keyboard.press('Control+,')
  const settings = page.getByRole('dialog', { name: '设置' })
  await settings.getByRole('alert').getByText('无法加载页面的这一部分').waitFor()
  await shots(page, 'not-loaded-zh')
})

test('Chinese is loaded by those who read it, and the page stays in English if that fails', async () => {
  const { page } = await open()
  const asked: string[] = []
  await page.route(/assets\/chinese-.*\.js/, (route) => {
    asked.push(route.request().url())
    return route.abort()
  })
  await page.reload()
  await expect.poll(() => loaded(page)).toHaveLength(parts)
  expect(asked).toEqual([])

  await page.keyboard.press('Control+,')
  const settings = page.getByRole('dialog', { name: 'Settings' })
  await settings.getByRole('tab', { name: 'Appearance' }).click()
  await settings.getByRole('radio', { name: '简体中文' }).click()
  // The browser asks once to have it early, and again if that failed before it is used.
  await expect.poll(() => asked.length).toBeGreaterThan(0)
  await page.keyboard.press('Escape')
  await page.getByText('The texts in your language could not be loaded').waitFor()
  await shots(page, 'language-not-loaded')
  expect(await violations(page)).toEqual([])

  await page.unroute(/assets\/chinese-.*\.js/)
  await page.reload()
  await page.getByRole('button', { name: '设置', exact: true }).waitFor() // the choice was kept
})
