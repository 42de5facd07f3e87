import { expect, test } from 'vitest'
import { openPage, panelOf, prompt, shot, shots, untilRest } from './browser'
import { startHost } from './host'
import { startModel, type Round } from './model'
import { useStage } from './stage'

const stage = useStage()

const models = [
  {
    provider: 'compat',
    id: 'priced-1',
    display_name: 'Priced One',
    context_window: 400_000,
    input: 2,
    output: 10,
    cache_read: 0.5,
    reasoning: true,
    supports_images: true,
  },
  {
    provider: 'compat',
    id: 'leaving-1',
    display_name: 'A Leaving Model',
    context_window: 128_000,
    input: 0.075,
    output: 0.3,
    deprecated: true,
    shutdown_date: '2126-12-01',
    replacement: 'priced-1',
  },
]

/** Local models are free, so the model gets an address that is not a loopback address. */
async function start(rounds: Round[], more: typeof models = []) {
  const model = (stage.model = await startModel(rounds))
  const url = model.url.replace('127.0.0.1', '0.0.0.0')
  const host = (stage.host = await startHost({
    models: [...models, ...more],
    env: { COMPAT_BASE_URL: url, COMPAT_API_KEY: 'test-key' },
  }))
  return { model, ...(await openPage(stage.browser, host.url)) }
}

const usage = { input: 120_000, cached: 100_000, output: 4_000 }

test('every request is priced, and an unknown price is never shown as zero', async () => {
  const { page, offences } = await start([
    { text: 'The first answer.', usage },
    { text: 'The second answer.', usage: { input: 900, cached: 0, output: 12 } },
  ])
  const picker = page.getByRole('button', { name: 'Model: Priced One' })
  await picker.click()
  const options = page.getByRole('option')
  await options.first().waitFor()
  await expect
    .poll(() => options.evaluateAll((all) => all.map((o) => o.getAttribute('aria-label'))))
    .toEqual([
      'Priced One, Reasoning, Images, 400 k tokens of context, $2.00 in and $10.00 out per million tokens',
      'A Leaving Model, until 2126-12-01, 128 k tokens of context, $0.075 in and $0.30 out per million tokens',
      'Demo script',
      'Add a key…, OpenAI',
      'Add a key…, Anthropic',
      'Add a key…, Google Gemini',
      'More providers…',
    ])
  await shot(page, 'cost-models')
  await page.keyboard.press('Enter')
  await options.first().waitFor({ state: 'detached' })

  await prompt(page, 'Hello')
  await page.getByText(/Priced One · .*120\.0 k in · 4\.0 k out · \$0\.13$/).waitFor()
  await page.getByRole('button', { name: 'Cost of this session: $0.1300' }).click()
  const panel = panelOf(page, 'Cost')
  const row = (name: string | RegExp) => panel.getByRole('row', { name })
  await expect.poll(() => row(/^Priced One/).innerText()).toMatch(/120\.0 k\s+4\.0 k\s+\$0\.13/)
  await panel.getByText('1 request · 120.0 k in · 4.0 k out · 83% from cache').waitFor()

  await untilRest(page)
  await picker.click()
  await page.getByRole('combobox', { name: 'Find a model' }).fill('my-model')
  await page.getByRole('option', { name: 'Use “my-model”, OpenAI-compatible' }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Model: my-model' }).waitFor()
  await options.first().waitFor({ state: 'detached' })
  await prompt(page, 'And again')
  await page.getByText(/my-model · .* · cost unknown$/).waitFor()
  await page
    .getByRole('button', {
      name: /^Cost of this session: .*\$0\.1300 · 1 request of unknown cost: my-model$/,
    })
    .getByText('$0.13+')
    .waitFor()
  await panel.getByText('1 request of unknown cost: my-model.').waitFor()
  await expect.poll(() => row(/^my-model/).innerText()).toMatch(/900\s+12\s+unknown/)
  await shot(page, 'cost-panel')

  await page.reload()
  await page
    .getByRole('button', { name: /Cost of this session: .*\$0\.1300 · 1 request/ })
    .waitFor()
  await panel.getByText('2 requests').waitFor()
  await page.emulateMedia({ colorScheme: 'dark' })
  await shot(page, 'cost-panel-dark')

  await panel.getByRole('combobox', { name: 'Cost of: This session' }).click()
  await page.getByRole('option', { name: 'All sessions' }).click()
  await panel.getByRole('row', { name: /^Hello/ }).waitFor()
  await shot(page, 'cost-panel-all-dark')
  await page.emulateMedia({ colorScheme: 'light' })

  await page.setViewportSize({ width: 900, height: 800 })
  await panel.waitFor({ state: 'detached' })
  await page.keyboard.press('Control+.')
  await panel.waitFor()
  await shot(page, 'cost-panel-900')
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'detached' })
  await page.setViewportSize({ width: 1280, height: 800 })
  await panel.waitFor()
  await page.setViewportSize({ width: 1010, height: 800 })
  await shot(page, 'cost-panel-1010')
  await page.keyboard.press('Control+.')
  await panel.waitFor({ state: 'detached' })

  const chinese = await openPage(stage.browser, `${new URL('/', stage.host!.url)}`, {
    storageState: await page.context().storageState(),
    locale: 'zh-CN',
  })
  await chinese.page.getByRole('button', { name: '费用', exact: true }).click()
  await chinese.page.getByText('1 次请求的费用未知：my-model。').waitFor()
  await shot(chinese.page, 'cost-panel-zh')
  await chinese.page.getByRole('button', { name: '模型：my-model' }).click()
  await chinese.page.getByRole('combobox', { name: '查找模型' }).waitFor()
  await shot(chinese.page, 'cost-models-zh')
  expect(chinese.offences).toEqual([])
  expect(offences).toEqual([])
})

test('a fallback model is chosen', async () => {
  const { page, offences } = await start([{ text: 'Here.' }])
  const picker = page.getByRole('button', { name: 'Model: Priced One' })
  await picker.click()
  const option = page.getByRole('option', { name: /^Priced One/ })
  await option.waitFor()
  await page.keyboard.press('Enter')
  await option.waitFor({ state: 'detached' })
  await prompt(page, 'Hello')
  await page.getByText('Here.', { exact: true }).waitFor() // not “Sessions appear here.”
  await untilRest(page)
  await picker.click()
  await page.getByRole('button', { name: 'Fallback model: None' }).click()
  await shot(page, 'cost-fallback')
  await page.getByRole('option', { name: /^A Leaving Model/ }).click()
  await page.getByRole('option').first().waitFor({ state: 'detached' })
  await page.reload()
  await picker.click()
  await page.getByRole('button', { name: 'Fallback model: A Leaving Model' }).waitFor()
  await shot(page, 'cost-models-fallback')
  expect(offences).toEqual([])
})

test('a failed request shows a countdown to its retry, which becomes inconspicuous afterwards', async () => {
  let release = () => {}
  const rest = new Promise<void>((resolve) => (release = resolve))
  const { page, offences } = await start([
    { status: 503, retryAfter: 4 },
    { rest, text: 'Here I am.' },
  ])
  await Promise.all([
    page.getByText(/Retrying in \d s \(1 of/).waitFor(),
    page.getByText(/Retrying in [12] s \(1 of/).waitFor(),
    prompt(page, 'Hello'),
  ])
  await shot(page, 'cost-retry')
  await page.getByText(/Retrying \(1 of/).waitFor()
  release()
  await page.getByText('Here I am.').waitFor()
  await page.getByText(/Retried \(1 of/).waitFor()
  await shot(page, 'cost-retried')
  expect(offences).toEqual([])
})

test('a connection is tested beside its key', async () => {
  const { page, model } = await start([])
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  await page.keyboard.press('Control+,')
  const row = page.getByRole('listitem').filter({ hasText: 'OpenAI-compatible' })
  await row.getByRole('button', { name: 'Test connection' }).click()
  await row.getByText(/Answered in \d+ ms · 1 model/).waitFor()
  await shot(page, 'cost-keys')
  model.stop()
  await row.getByRole('button', { name: 'Test connection' }).click()
  await row.getByRole('alert').getByText('Your key and address are kept').waitFor()
  await shot(page, 'cost-keys-problem')
})

test('a provider that is hidden at first is shown once it is set up', async () => {
  const { page, offences } = await start([])
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  await page.keyboard.press('Control+,')
  const row = page.getByRole('listitem').filter({ hasText: 'DeepSeek' })
  const more = page.getByRole('button', { name: 'More providers' })
  await more.waitFor()
  expect(await row.count()).toBe(0)
  await more.click()
  await row.getByRole('button', { name: 'Set key' }).click()
  await row.getByText('Leave empty for https://api.deepseek.com').waitFor()
  await shot(page, 'cost-keys-more')
  await row.getByLabel('API key · DeepSeek').fill('sk-test-0123456789')
  await row.getByRole('button', { name: 'Save' }).click()
  await row.getByText('in a file').waitFor()
  await more.click()
  await row.getByRole('button', { name: 'Change' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Model: Priced One' }).click()
  await page.getByRole('combobox', { name: 'Find a model' }).fill('deepseek')
  await page
    .getByRole('option', { name: /^DeepSeek V4/ })
    .first()
    .waitFor()
  expect(offences).toEqual([])
})

// COM-94: another model or other tools break the prompt cache, which is said with the price before it is done.
test('what breaks the prompt cache is warned about', async () => {
  const dear = { ...models[0]!, id: 'dear-1', display_name: 'Dear One', input: 3 }
  const small = { ...dear, id: 'small-1', display_name: 'Small One', context_window: 64_000 }
  const { page, offences } = await start([{ text: 'The first answer.', usage }], [dear, small])
  await prompt(page, 'What is here?')
  await page.getByText('The first answer.').waitFor()
  await untilRest(page)
  const option = (name: RegExp) => page.getByRole('option', { name })
  await page.getByRole('button', { name: 'Model: Priced One' }).click()
  await option(/^Dear One/).hover()
  await page
    .getByText(
      /^With Dear One the next request reads 12\d\.\d k tokens anew, for about \$0\.3\d\. .* takes about \$0\.1\d\.$/,
    )
    .waitFor()
  await shots(page, 'cost-model-warning')
  await option(/^Small One/).hover()
  await page.getByText(/more than Small One takes\. It is summarised/).waitFor()
  await option(/^Priced One/).hover()
  await page.getByText(/^The conversation is cached: .* about \$0\.1\d\.$/).waitFor()
  await page.keyboard.press('Escape')

  await page.keyboard.press('Control+k')
  await page.keyboard.type('dear')
  await page.getByText(/reads the conversation anew, about \$0\.3\d/).waitFor()
  await shot(page, 'cost-palette-warning')
  await page.keyboard.press('Escape')

  const tools = page.getByText(/^A change of the tools .* about \$0\.1\d dearer/)
  await page.getByRole('button', { name: 'MCP servers', exact: true }).click()
  await tools.waitFor()
  await shots(page, 'cost-servers-warning')
  expect(offences).toEqual([])
})
