import { expect, test } from 'vitest'
import { openPage, panelOf, prompt, shots, untilRest } from './browser'
import { startHost } from './host'
import { startModel } from './model'
import { useStage } from './stage'

const stage = useStage()
const usage = (input: number, cached = 0) => ({ input, cached, output: 10 })

// COM-94: the user sees what fills the window, pins and takes out items, reads and changes a summary before
// it replaces the conversation, and takes that back.
test('a person decides what stays in the context', async () => {
  const model = (stage.model = await startModel([
    { text: 'The number is 4711. '.repeat(60), usage: usage(9000) },
    { text: `Noted. ${'I looked at it. '.repeat(500)}`, usage: usage(9500, 8000) },
    { text: '## Goal\nMend the login.', usage: usage(4000) },
    { text: 'I go on.', usage: usage(6000) },
    { calls: [{ name: 'Recall', input: { query: 'login' } }], usage: usage(6100) },
    { text: 'It was there.', usage: usage(6200) },
    { text: 'All of it again.', usage: usage(9600) },
  ]))
  const host = (stage.host = await startHost({
    models: [
      { provider: 'compat', id: 'short-1', display_name: 'Short One', context_window: 64_000 },
    ],
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  const { page, offences } = await openPage(stage.browser, host.url)
  const panel = panelOf(page, 'Context')
  const row = (text: string | RegExp) => panel.getByRole('listitem').filter({ hasText: text })

  await prompt(page, 'Never touch the tests')
  await untilRest(page)
  await page.getByRole('button', { name: 'Context', exact: true }).click()
  await panel.getByText(/^9\.0 k of 64 k tokens|^9\.0 k of 64\.0 k tokens/).waitFor()
  await row('Never touch the tests').getByRole('button', { name: /^Pin/ }).click()
  await row('Never touch the tests')
    .getByText(/pinned/)
    .waitFor()
  await row('The number is 4711')
    .getByRole('button', { name: /^Take out/ })
    .click()
  await row('The number is 4711')
    .getByText(/taken out/)
    .waitFor()

  await prompt(page, 'Mend the login')
  await page
    .getByText(/^Noted\./)
    .first()
    .waitFor()
  await untilRest(page)
  await panel.getByRole('button', { name: /^Result|^Answer Noted\./ }).click()
  await shots(page, 'context-panel')

  await panel.getByRole('textbox', { name: 'What to keep in particular' }).fill('the tests')
  await panel.getByRole('button', { name: 'Preview a summary' }).click()
  const summary = panel.getByRole('textbox', { name: 'Summary to go on with' })
  await expect.poll(() => summary.inputValue()).toContain('Mend the login.')
  expect(model.heard[2]).toContain('the tests')
  await summary.fill('## Goal\nMend the login in auth.go.')
  await summary.scrollIntoViewIfNeeded()
  await shots(page, 'context-preview')
  await panel.getByRole('button', { name: 'Replace the conversation' }).click()
  await row('Summary').waitFor()
  await untilRest(page)
  await prompt(page, 'Go on')
  await page.getByText('I go on.').first().waitFor()
  await untilRest(page)
  await row('Never touch the tests')
    .getByText(/pinned/)
    .waitFor()
  expect(await row('Noted.').count()).toBe(0)
  await prompt(page, 'What was it about?')
  await page.getByText('It was there.').first().waitFor()
  await untilRest(page)
  expect(model.heard.at(-1)).toMatch(/user_message:.*Mend the login/)

  await panel.getByRole('button', { name: 'Take back' }).click()
  await panel.getByText('You took a compaction back.').waitFor()
  await shots(page, 'context-undone')
  await prompt(page, 'And now?')
  await page.getByText('All of it again.').first().waitFor()
  await row('Noted.').waitFor()
  await row('The number is 4711')
    .getByText(/taken out/)
    .waitFor()
  expect(offences).toEqual([])
})
