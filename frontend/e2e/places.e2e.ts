import { expect, test } from 'vitest'
import { openPage, prompt, resting, untilRest } from './browser'
import { startHost } from './host'
import { startModel } from './model'
import { useStage } from './stage'

const stage = useStage()

const long = Array.from({ length: 120 }, (_, n) => `Paragraph ${n} of the answer.`).join('\n\n')

test('a session that is opened again has its scroll position and its unfolded cards', async () => {
  const model = (stage.model = await startModel([
    { calls: [{ name: 'Read', input: { file_path: 'a.txt' } }] },
    { text: long },
    { text: 'A short one.' },
  ]))
  const host = (stage.host = await startHost({
    files: { 'a.txt': 'the text of a file\n' },
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  const { page, offences } = await openPage(stage.browser, host.url)
  await prompt(page, 'The long one')
  await page.getByText('Paragraph 119').waitFor()
  await untilRest(page)
  const list = page.getByRole('log').locator('> div')
  await list.hover()
  await page.mouse.wheel(0, -20_000)
  await page.getByRole('button', { name: /Read\b/ }).click()
  await page.getByText('the text of a file').waitFor()
  await page.mouse.wheel(0, 300)
  await expect.poll(() => list.evaluate((box) => box.scrollTop)).toBeGreaterThan(250)
  await resting(page.getByText('the text of a file'))
  // The list knows only about how high what it has not drawn is, so that the text is the measure, not the offset.
  const text = page.getByText('Paragraph 3 of')
  const left = await resting(text)

  await page.getByRole('button', { name: 'New session' }).first().click()
  await prompt(page, 'The short one')
  await page.getByText('A short one.').waitFor()
  await page.getByRole('button', { name: 'idle The long one' }).click()
  await text.waitFor()
  await expect.poll(async () => Math.abs((await resting(text)) - left)).toBeLessThan(3)
  await list.hover()
  await page.mouse.wheel(0, -20_000)
  await page.getByText('the text of a file').waitFor()

  // A session that was left at its end is shown from its end.
  await page.getByRole('button', { name: 'idle The short one' }).click()
  await page.getByText('A short one.').waitFor()
  await page.getByRole('button', { name: 'Jump to latest' }).waitFor({ state: 'hidden' })
  expect(offences).toEqual([])
})
