import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { answer, openPage, prompt, shot, shots } from './browser'
import { startHost } from './host'
import { modelID, startModel } from './model'
import { useStage } from './stage'

const stage = useStage()

const write = (name: string) => ({
  calls: [{ name: 'Write', input: { file_path: name, content: `${name}\n` } }],
})
const mode = (page: Page, name: string) =>
  page.getByRole('combobox', { name: `Permission mode: ${name}` })

async function choose(page: Page) {
  await page.getByRole('combobox', { name: /^Permission mode/ }).click()
  await page.getByRole('option', { name: /^Allow everything/ }).click()
  const dialog = page.getByRole('dialog', { name: 'Allow everything in this session?' })
  await dialog.waitFor()
  return dialog
}

// K-12: only a choice and a confirmation lead into this mode, and it ends with
// its session and with the program.
test('everything is allowed after a confirmation, for one session, until the program ends', async () => {
  const model = (stage.model = await startModel([
    write('a.txt'),
    { text: 'One.' },
    write('b.txt'),
    { text: 'Two.' },
    write('c.txt'),
    { text: 'Three.' },
  ]))
  const env = { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' }
  const host = (stage.host = await startHost({ env }))
  const { page, offences } = await openPage(stage.browser, host.url)
  await page.getByRole('button', { name: `Model: ${modelID}` }).waitFor()
  const field = page.getByRole('textbox', { name: 'Message' })

  for (let i = 0; i < 7; i++) {
    await field.press('Shift+Tab')
    expect(await mode(page, 'Allow everything').count()).toBe(0)
  }
  await mode(page, 'Accept edits').waitFor()
  await page.getByText('The agent edits files in the project freely').waitFor()
  await shot(page, 'bypass-empty-edits')
  for (let i = 0; i < 3; i++) await field.press('Shift+Tab')
  await mode(page, 'Ask first').waitFor()

  const dialog = await choose(page)
  await expect
    .poll(() =>
      dialog
        .getByRole('button', { name: 'Cancel' })
        .evaluate((it) => it === document.activeElement),
    )
    .toBe(true)
  await shots(page, 'bypass-confirm')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await mode(page, 'Ask first').waitFor()

  await choose(page)
  await dialog.getByRole('button', { name: 'Allow everything' }).click()
  await page.getByText('Nothing is asked:').waitFor()
  const strip = page.getByRole('status').filter({ hasText: 'Everything is allowed.' })
  await strip.waitFor()
  await shots(page, 'bypass-empty')
  await prompt(page, 'Write a')
  await page.getByText('One.', { exact: true }).waitFor()
  expect(await readFile(join(host.folder, 'a.txt'), 'utf8')).toBe('a.txt\n')
  await strip.waitFor()
  await page.locator('header').getByText('Allow everything').waitFor()
  await shots(page, 'bypass-strip')

  await page.getByRole('button', { name: 'New session' }).first().click()
  await mode(page, 'Ask first').waitFor()
  expect(await strip.count()).toBe(0)
  expect(await page.locator('header').getByText('Allow everything').count()).toBe(0)
  await prompt(page, 'Write b')
  const question = page.getByRole('region', { name: 'Needs you: Write' })
  await answer(question)
  await page.getByText('Two.', { exact: true }).waitFor()

  await page
    .getByRole('button', { name: /Write a/ })
    .first()
    .click()
  await strip.waitFor()
  await host.stop()
  const again = (stage.host = await startHost({ from: host, env }))
  const reopened = await openPage(stage.browser, again.url)
  await reopened.page
    .getByRole('button', { name: /Write a/ })
    .first()
    .click()
  await reopened.page.getByText('It asks first again.').waitFor()
  await mode(reopened.page, 'Ask first').waitFor()
  await shot(reopened.page, 'bypass-reset')
  await prompt(reopened.page, 'Write c')
  await reopened.page.getByRole('region', { name: 'Needs you: Write' }).waitFor()
  expect(reopened.offences).toEqual([])

  const chinese = await openPage(stage.browser, `${new URL('/', again.url)}`, {
    storageState: await reopened.page.context().storageState(),
    locale: 'zh-CN',
  })
  await chinese.page.getByRole('button', { name: '新建会话' }).first().click()
  await chinese.page.getByRole('combobox', { name: /^权限模式/ }).click()
  await chinese.page.getByRole('option', { name: /^全部允许/ }).click()
  await shot(chinese.page, 'bypass-confirm-zh')
  await chinese.page.getByRole('button', { name: '全部允许' }).last().click()
  await chinese.page.getByText('一切操作均已允许。').waitFor()
  await shot(chinese.page, 'bypass-empty-zh')
  expect(chinese.offences).toEqual([])
  expect(offences.filter((line) => !/ERR_CONNECTION|WebSocket/.test(line))).toEqual([])
})
