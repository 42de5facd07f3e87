import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { openPage, prompt, shots, untilArmed, untilDrawn, untilFocused } from './browser'
import { startHost } from './host'
import { startModel } from './model'
import { useStage } from './stage'

const stage = useStage()

const question = (page: Page) => page.locator('main [data-approval]')
const write = (n: number) => ({ name: 'Write', input: { file_path: `s${n}.txt`, content: 'x\n' } })

async function start(width: number) {
  const model = (stage.model = await startModel([
    { calls: [write(1)] },
    { text: 'Denied or done.' },
  ]))
  const env = { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' }
  const host = (stage.host = await startHost({ env }))
  const opened = await openPage(stage.browser, host.url)
  await opened.page.setViewportSize({ width, height: 700 })
  await prompt(opened.page, 'Go')
  await untilArmed(question(opened.page))
  await untilFocused(question(opened.page))
  return { ...opened, file: join(host.folder, 's1.txt') }
}

/** Each way to lay something over the question, and the width of the window in which it does. */
const overlays: { name: string; width: number; keys: string[]; over: string }[] = [
  { name: 'the panel', width: 900, keys: ['Control+.'], over: '.pane.right.floats' },
  { name: 'the sessions', width: 700, keys: ['Control+b'], over: '.pane.left.floats' },
  {
    name: 'the panel in a small window',
    width: 700,
    keys: ['Control+.'],
    over: '.pane.right.floats',
  },
  { name: 'settings', width: 1280, keys: ['Control+,'], over: '[role=dialog]' },
  {
    name: 'the search over all sessions',
    width: 1280,
    keys: ['Control+Shift+f'],
    over: '[role=dialog]',
  },
  {
    name: 'the list of projects',
    width: 1280,
    keys: ['Alt+p'],
    over: '[role=dialog], [role=listbox]',
  },
]

// No key answers a question that something covers, and a second Escape does not deny it.
test.each(overlays)(
  '$name lies over a question and takes the keys, by keyboard only',
  async ({ width, keys, over }) => {
    const { page, offences, file } = await start(width)
    for (const key of keys) await page.keyboard.press(key)
    const covering = page.locator(over).first()
    await covering.waitFor()
    await expect
      .poll(() => question(page).evaluate((it) => it.contains(document.activeElement)))
      .toBe(false)
    for (const key of ['d', 'a', 's', 'f', 'n', 'r']) await page.keyboard.press(key)
    await shots(page, `covered-${over.slice(1, 6)}`)
    await page.setViewportSize({ width, height: 700 })
    expect(await question(page).count()).toBe(1)
    while ((await covering.count()) > 0) {
      await page.keyboard.press('Escape')
      await untilDrawn(page) // or one Escape too many would be for the question
    }
    await page.keyboard.press('Escape') // a second one is not for the question
    expect(await question(page).count()).toBe(1)
    await expect(access(file)).rejects.toThrow()

    // Uncovered, the question is answered by its keys again.
    await page.keyboard.press('Alt+a')
    await untilFocused(question(page))
    await untilArmed(question(page))
    await page.waitForFunction(() => performance.now() > 0)
    await page.keyboard.press('a')
    await page.getByText('Denied or done.').waitFor()
    expect(await readFile(file, 'utf8')).toBe('x\n')
    expect(offences).toEqual([])
  },
)

test('Shift+Tab leads from the message field to the question before it, by keyboard only', async () => {
  const { page, offences } = await start(1280)
  await page.keyboard.press('Alt+m')
  await untilFocused(page.getByRole('textbox', { name: 'Message', exact: true }))
  await page.keyboard.press('Shift+Tab')
  await untilFocused(question(page))
  await untilArmed(question(page))
  await page.keyboard.press('d')
  await page.getByText('Denied or done.').waitFor()
  await page.keyboard.press('Alt+m')
  await page.keyboard.press('Shift+Tab') // nothing waits, so the mode changes
  await page.getByRole('combobox', { name: 'Permission mode: Plan' }).waitFor()
  expect(offences).toEqual([])
})
