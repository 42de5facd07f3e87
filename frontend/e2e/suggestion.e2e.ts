import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { openPage, panelOf, prompt, shot, shots, untilUncovered } from './browser'
import { startHost } from './host'
import { startModel, type Model, type Script } from './model'
import { useStage } from './stage'

const stage = useStage()

const models = ['large-1', 'small-1'].map((id) => ({
  provider: 'compat',
  id,
  display_name: id === 'large-1' ? 'Large One' : 'Small One',
  context_window: 400_000,
  input: 2,
  output: 10,
}))

const usage = { input: 50_000, cached: 0, output: 0 }

/** Local models are free, so the models get an address that is not a loopback address. */
const environment = (model: Model) => ({
  COMPAT_BASE_URL: model.url.replace('127.0.0.1', '0.0.0.0'),
  COMPAT_API_KEY: 'test-key',
  COMATE_AGENT_SDK_LLM_LOW: 'compat/small-1',
})

async function start(rounds: Script, small: Script) {
  const model = (stage.model = await startModel(rounds, { 'small-1': small }))
  const host = (stage.host = await startHost({ models, env: environment(model) }))
  return { host, model, ...(await openPage(stage.browser, host.url)) }
}

const field = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true })
const use = (page: Page, text: string) =>
  page.getByRole('button', { name: `Use the suggestion: ${text}`, exact: true })
const focused = (page: Page) =>
  page.evaluate(() => document.activeElement?.getAttribute('aria-label'))

// OAS-102, COM-51
test('the next message is suggested if the user wants that, taken with Tab, edited, sent and billed', async () => {
  const long =
    'Add tests for the basket, then run them all and mend whatever fails, and tell me what you had to change'
  const { page, model, host, offences } = await start(
    [
      { text: 'The shop has a basket. Shall I test it?', usage },
      { text: 'Tested: it holds.', usage },
      { text: 'All of it.', usage },
    ],
    [
      { text: 'A basket for the shop' },
      { text: '“Yes, test the basket”', usage },
      { text: long, usage },
      { text: '-', usage },
    ],
  )
  await prompt(page, 'Add a basket')
  await page.getByRole('heading', { name: 'A basket for the shop' }).waitFor()
  await expect.poll(() => model.asked).toEqual(['large-1', 'small-1'])

  await page.keyboard.press('Control+,')
  await page.getByRole('tab', { name: 'Models' }).click()
  const wanted = page.getByRole('switch', { name: 'Suggest the next message' })
  await wanted.and(page.locator(':not(:checked)')).waitFor()
  await wanted.click()
  await wanted.and(page.locator(':checked')).waitFor()
  await shots(page, 'suggestion-settings')
  await page.keyboard.press('Escape')
  await untilUncovered(page)

  await prompt(page, 'Is it done?')
  await use(page, 'Yes, test the basket').waitFor()
  await page
    .getByRole('status')
    .filter({ hasText: /^Suggested: Yes, test the basket\. Tab puts it into the field/ })
    .waitFor()
  expect(model.heard.at(-1)).toContain('Add a basket')
  expect(model.heard.at(-1)).toContain('Tested: it holds.')
  await shots(page, 'suggestion')

  // Tab takes the suggestion. The next Tab leaves the field, and so does Tab without a suggestion.
  await field(page).focus()
  await page.keyboard.press('Tab')
  await expect.poll(() => field(page).inputValue()).toBe('Yes, test the basket')
  await expect.poll(() => focused(page)).toBe('Message')
  expect(model.asked).toHaveLength(4)
  await page.keyboard.type(' and the till')
  await shot(page, 'suggestion-taken')
  await page.keyboard.press('Tab')
  await expect.poll(() => focused(page)).not.toBe('Message')
  await field(page).press('Enter')
  await page.getByText('All of it.').waitFor()
  expect(model.heard).toContain('"Yes, test the basket and the till"')

  // A suggestion survives a crash, Escape dismisses it, and a hyphen is not a suggestion.
  await use(page, long).waitFor()
  await shots(page, 'suggestion-long')
  expect(offences).toEqual([])
  await host.stop('SIGKILL')
  const again = (stage.host = await startHost({
    from: host,
    env: environment(model),
  }))
  const reopened = await openPage(stage.browser, again.url)
  await use(reopened.page, long).waitFor()
  await field(reopened.page).press('Escape')
  await use(reopened.page, long).waitFor({ state: 'detached' })
  await expect.poll(() => focused(reopened.page)).toBe('Message')
  await reopened.page.keyboard.press('Tab')
  await expect.poll(() => focused(reopened.page)).not.toBe('Message')

  await reopened.page.getByRole('button', { name: /^Cost of this session/ }).click()
  const panel = panelOf(reopened.page, 'Cost')
  await panel
    .getByRole('row', { name: /^Small One/ })
    .filter({ hasText: /\$0\.2\d/ })
    .waitFor()
  await shot(reopened.page, 'suggestion-cost')
  expect(reopened.offences).toEqual([])
})

test('suggestions in Chinese', async () => {
  // The title and the suggestion are requested after the first turn, in any order.
  const small = (conversation: string) => ({
    text: conversation.includes('You name') ? '购物车' : '好的，测试购物车',
  })
  const { page, offences } = await start([{ text: '购物车做好了。要测试吗？' }], [small, small])
  await field(page).waitFor()
  await page.keyboard.press('Control+,')
  await page.getByRole('tab', { name: 'Appearance' }).click()
  await page.getByRole('radio', { name: '简体中文' }).click()
  await page.getByRole('tab', { name: '模型' }).click()
  await page.getByRole('switch', { name: '建议下一条消息' }).click()
  await shot(page, 'suggestion-settings-zh')
  await page.keyboard.press('Escape')
  await untilUncovered(page)
  const message = page.getByRole('textbox', { name: '消息', exact: true })
  await message.fill('加一个购物车')
  await message.press('Enter')
  await page.getByRole('heading', { name: '购物车', exact: true }).waitFor()
  const use = page.getByRole('button', { name: '采用建议：好的，测试购物车' })
  await use.waitFor()
  await shot(page, 'suggestion-zh')
  await use.click()
  await expect.poll(() => message.inputValue()).toBe('好的，测试购物车')
  expect(offences).toEqual([])
})
