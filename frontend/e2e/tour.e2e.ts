import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { answer, openPage, openPanel, shot } from './browser'
import { closePages, launch } from './chromium'
import { discard, startHost, type Host } from './host'

let browser: Browser
let host: Host

beforeAll(async () => {
  browser = await launch()
  host = await startHost({ files: { 'README.md': '# Shop\n\nA small shop.\n' } })
})
afterAll(async () => {
  if (browser) await closePages(browser)
  await host?.stop()
  if (host) await discard(host)
})

test('without a key the tour shows everything, offline and labelled', async () => {
  const { page, offences } = await openPage(browser, host.url)
  await shot(page, 'tour-0-empty')
  await page.getByRole('button', { name: 'Show me around' }).click()

  for (const tool of ['Write', 'Edit', 'Bash']) {
    const question = page.getByRole('region', { name: `Needs you: ${tool}` })
    await question.waitFor()
    await shot(page, `tour-${tool}`)
    await answer(question)
    await question.waitFor({ state: 'detached' })
  }
  await page.getByRole('button', { name: /· Demo script$/ }).waitFor()
  await shot(page, 'tour-9-end')

  const written = await readFile(join(host.folder, 'atelier-tour/hello.sh'), 'utf8')
  expect(written).toContain('Welcome to Atelier')
  await page.getByRole('button', { name: 'Model: Demo script' }).waitFor()
  // Scripts have no cost to show.
  const panel = await openPanel(page, 'Cost')
  await panel.getByText('The cost of each request is added up here').waitFor()
  expect(await page.getByText(/\$\d/).count()).toBe(0)
  await shot(page, 'tour-cost')
  expect(offences).toEqual([])
})
