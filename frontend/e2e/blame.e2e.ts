import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { violations } from './axe'
import {
  acceptEdits,
  openPage,
  openPanelByKey,
  panelOf,
  pressIn,
  prompt,
  shot,
  untilRest,
} from './browser'
import { startHost } from './host'
import { startModel } from './model'
import { useStage } from './stage'

const stage = useStage()

const path = 'src/cart.go'
const cart = Array.from({ length: 14 }, (_, at) => `step${at}()\n`).join('')
const edited = cart.replace('step2()', 'stepTwo()')

/** What stands before each line that has a mark. */
const marked = (page: Page) =>
  page.locator('[data-row]').evaluateAll((rows) =>
    rows.flatMap((row) => {
      const mark = row.querySelector('[data-author]')?.textContent.trim()
      return mark ? [`${mark} ${row.querySelector('.text')?.textContent.trim()}`] : []
    }),
  )

test('the model, a command and a person are told apart, line by line', async () => {
  const model = (stage.model = await startModel([
    { calls: [{ name: 'Read', input: { file_path: path } }] },
    { calls: [{ name: 'Write', input: { file_path: path, content: edited } }] },
    { text: 'Renamed.' },
  ]))
  const host = (stage.host = await startHost({
    files: { [path]: cart },
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  const { page, offences } = await openPage(stage.browser, host.url)
  await acceptEdits(page)
  await prompt(page, 'Rename the second step')
  await page.getByText('Renamed.').waitFor()
  await untilRest(page)
  await prompt(page, `! sed -i s/step7/stepSeven/ ${path}`)
  await page.getByText('No output.').waitFor()
  await untilRest(page)
  const file = join(host.folder, path)
  await writeFile(file, (await readFile(file, 'utf8')).replace('step10()', 'step10() // mine'))

  // It opened with the first change.
  const panel = panelOf(page, 'Changes')
  await pressIn(panel, panel.getByRole('button', { name: 'cart.go' }))
  await pressIn(panel, panel.getByRole('button', { name: 'Who wrote this' }))
  await panel.locator('[data-author]').first().waitFor()
  await pressIn(panel, panel.getByRole('button', { name: 'Show the next 20 lines' }))
  await panel.getByText('// mine').waitFor()
  await expect
    .poll(() => marked(page))
    .toEqual(expect.arrayContaining(['A1 stepTwo()', 'A$ stepSeven()', '✎ step10() // mine']))

  const row = panel.locator('[data-row]').filter({ hasText: 'stepTwo()' })
  await row.focus()
  await page.keyboard.press('w')
  const card = page.getByRole('dialog', { name: 'Who wrote this' })
  await card.getByText('scripted-1').waitFor()
  await card.getByText('Rename the second step').first().waitFor()
  expect(await violations(page)).toEqual([])
  await shot(page, 'blame')
  await page.keyboard.press('Escape')
  await card.waitFor({ state: 'hidden' })
  await panel.locator('[data-row]:focus').getByText('stepTwo()').waitFor()
  await page.keyboard.press('w')
  await card.getByRole('button', { name: 'Open in session' }).press('Enter')
  await page.locator('[role=log] :focus').waitFor()

  // The same of every file, changed or not.
  await openPanelByKey(page, 'Files')
  const files = panelOf(page, 'Files')
  await pressIn(files, files.getByRole('button', { name: 'src' }))
  await pressIn(files, files.getByRole('button', { name: 'cart.go' }))
  await files.getByText('// mine').waitFor()
  await expect
    .poll(() => marked(page))
    .toEqual([
      '· step0()',
      'A1 stepTwo()',
      '· step3()',
      'A$ stepSeven()',
      '· step8()',
      '✎ step10() // mine',
      '· step11()',
    ])
  expect(await violations(page)).toEqual([])
  await shot(page, 'files')
  await pressIn(files, files.getByRole('button', { name: 'All files' }))
  await files.getByRole('searchbox', { name: 'Filter files' }).fill('none of them')
  await files.getByText('No path contains this text.').waitFor()
  expect(offences).toEqual([])
})
