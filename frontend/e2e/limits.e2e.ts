import { crc32, deflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { openPage, panelOf, prompt, shot, shots, untilFocused, untilRest } from './browser'
import { startHost } from './host'
import { startModel, type Round } from './model'
import { useStage } from './stage'

const stage = useStage()

const row = { provider: 'compat', context_window: 400_000, input: 2, output: 10, cache_read: 0.5 }
const models = [
  { ...row, id: 'seeing-1', display_name: 'Seeing One', supports_images: true },
  { ...row, id: 'blind-1', display_name: 'Blind One', supports_images: false, input: 0.1 },
]

/** A PNG of a disc on a transparent ground. */
function picture(width: number, height: number): Uint8Array {
  const pixels = Buffer.alloc((1 + 4 * width) * height)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const isIn = Math.hypot(x - width / 2, y - height / 2) < height * 0.4
      const at = y * (1 + 4 * width) + 1 + 4 * x
      pixels.set([200, 90 + (80 * x) / width, 40, isIn ? 255 : 0], at)
    }
  }
  const chunk = (type: string, data: Uint8Array) => {
    const body = Buffer.concat([Buffer.from(type), data])
    const frame = Buffer.alloc(body.length + 8)
    frame.writeUInt32BE(data.length)
    frame.set(body, 4)
    frame.writeUInt32BE(crc32(body), body.length + 4)
    return frame
  }
  const head = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 6, 0, 0, 0])
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10])
  const data = chunk('IDAT', deflateSync(pixels))
  return Buffer.concat([signature, chunk('IHDR', head), data, chunk('IEND', Buffer.alloc(0))])
}

/** The headers with which OpenAI reports a rate limit. */
const allowance = (requests: number, tokens: number) => ({
  'x-ratelimit-limit-requests': '500',
  'x-ratelimit-remaining-requests': String(requests),
  'x-ratelimit-reset-requests': '10m',
  'x-ratelimit-limit-tokens': '2000000',
  'x-ratelimit-remaining-tokens': String(tokens),
  'x-ratelimit-reset-tokens': '6m0s',
})

/** Local models are free, so the model gets an address that is not a loopback address. */
async function start(rounds: Round[]) {
  const model = (stage.model = await startModel(rounds))
  const url = model.url.replace('127.0.0.1', '0.0.0.0')
  const env = { COMPAT_BASE_URL: url, COMPAT_API_KEY: 'test-key' }
  const host = (stage.host = await startHost({
    models,
    env,
    files: { 'logo.png': picture(1200, 800) },
  }))
  return { model, ...(await openPage(stage.browser, host.url)) }
}

// LLM-32, OAS-115, COM-51
test('models by level, a picture, a rate limit that runs out, and a budget that is raised', async () => {
  const { page, offences, model } = await start([
    {
      calls: [{ name: 'Read', input: { file_path: 'logo.png' } }],
      headers: allowance(498, 1_900_000),
    },
    {
      text: 'A disc on nothing.',
      usage: { input: 120_000, cached: 100_000, output: 4_000 },
      headers: allowance(497, 150_000),
    },
    { text: 'The logo of the shop' },
    { text: 'On we go.', headers: allowance(496, 1_950_000) },
    { text: 'I cannot see it.' },
  ])

  await page.getByRole('button', { name: 'Model: Seeing One' }).waitFor()
  await page.keyboard.press('Control+,')
  await page.getByRole('tab', { name: 'Models' }).click()
  const settings = page.getByRole('dialog', { name: 'Settings' })
  await settings.getByText('nothing is sent to a provider that you did not choose').waitFor()
  await settings.getByRole('button', { name: 'Small jobs: Automatic' }).click()
  await page.getByRole('option', { name: /^Blind One/ }).waitFor()
  await shot(page, 'limits-level-list')
  await page.getByRole('option', { name: /^Blind One/ }).click()
  await settings.getByRole('button', { name: 'Small jobs: Blind One' }).waitFor()
  const standard = settings.getByRole('textbox', { name: 'Stop each new session at' })
  await standard.fill('7')
  await standard.press('Escape')
  await expect.poll(() => standard.inputValue()).toBe('')
  await standard.fill('0.50')
  await standard.press('Enter')
  await settings.getByRole('button', { name: 'Remove' }).waitFor()
  await shots(page, 'limits-models')
  await page.keyboard.press('Escape')
  await settings.waitFor({ state: 'detached' })

  await prompt(page, 'Look at the logo')
  await page.getByText('A disc on nothing.').waitFor()
  await untilRest(page)
  await page.getByRole('heading', { name: 'The logo of the shop' }).waitFor()
  expect(model.asked).toEqual(['seeing-1', 'seeing-1', 'blind-1'])

  await page.getByRole('button', { name: /details of Read logo\.png/ }).click()
  const picture = page.getByRole('img', { name: 'logo.png' })
  await picture.waitFor()
  await expect
    .poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth))
    .toBe(1200)
  await shots(page, 'limits-picture')
  await page.getByRole('button', { name: 'Show logo.png at full size' }).click()
  const full = page.getByRole('dialog', { name: 'logo.png' })
  await full.waitFor()
  await shots(page, 'limits-picture-full')
  await page.keyboard.press('Escape')
  await full.waitFor({ state: 'detached' })

  const meter = page
    .locator('main > header')
    .getByRole('meter', { name: 'Rate limit of this key at OpenAI-compatible' })
  await meter.getByText('7% of the rate limit left').waitFor()
  await meter.hover()
  await page.getByText(/150,000 of 2,000,000 tokens left, reset at \d/).waitFor()
  await shot(page, 'limits-allowance')

  await page.getByRole('button', { name: /^Cost of this session/ }).click()
  const panel = panelOf(page, 'Cost')
  const budget = panel.getByRole('textbox', { name: 'Stop this session at' })
  await expect.poll(() => budget.inputValue()).toBe('0.50')
  await panel.getByText('26% of $0.50 spent').waitFor()
  await shot(page, 'limits-budget-calm')
  await budget.fill('1,000')
  await panel.getByRole('alert').waitFor()
  await shot(page, 'limits-budget-wrong')
  await budget.fill('0.15')
  await budget.press('Enter')
  await panel.getByText('the session will stop soon').waitFor()

  await prompt(page, 'And again')
  await page.getByText('the next request could cost').waitFor()
  await shots(page, 'limits-budget')
  await page.setViewportSize({ width: 900, height: 800 })
  await page.getByRole('button', { name: 'Raise the budget' }).click()
  await untilFocused(budget)
  await shot(page, 'limits-raise-900')
  await page.setViewportSize({ width: 1280, height: 800 })
  await panel.getByRole('combobox', { name: 'Cost of: This session' }).click()
  await page.getByRole('option', { name: 'All sessions' }).click()
  await page.getByRole('button', { name: 'Raise the budget' }).click()
  await untilFocused(budget)
  await page.keyboard.type('5')
  await page.keyboard.press('Enter')
  await panel.getByText(/^\d% of \$5\.00 spent$/).waitFor()
  await prompt(page, 'Go on')
  await page.getByText('On we go.').waitFor()
  await page.locator('main > header').getByRole('meter').waitFor({ state: 'detached' })
  await panel.getByText('97% of the rate limit left').waitFor()
  await page.reload()
  await panel.getByText(/ of \$5\.00 spent$/).waitFor()

  await page.getByRole('button', { name: 'Model: Seeing One' }).click()
  await page.getByRole('option', { name: /^Blind One/ }).click()
  await page.getByRole('button', { name: 'Model: Blind One' }).waitFor()
  await prompt(page, 'And now you')
  await page.getByText('I cannot see it.').waitFor()
  await untilRest(page)
  const repair = page.getByRole('button', { name: 'Pictures are sent in another form' })
  await repair.waitFor()
  await shots(page, 'limits-repair')
  await repair.click()
  await page.getByText(/Pictures are sent to blind-1 in another form/).waitFor()
  await shot(page, 'limits-repair-open')

  const chinese = await openPage(stage.browser, `${new URL('/', stage.host!.url)}`, {
    storageState: await page.context().storageState(),
    locale: 'zh-CN',
  })
  await chinese.page.getByRole('button', { name: '图片以其他形式发送' }).waitFor()
  await shot(chinese.page, 'limits-zh')
  await chinese.page.keyboard.press('Control+,')
  await chinese.page.getByRole('tab', { name: '模型' }).click()
  await chinese.page.getByRole('switch', { name: '由小模型为会话命名' }).click()
  await chinese.page.getByRole('switch', { name: '由小模型为会话命名', checked: false }).waitFor()
  await shot(chinese.page, 'limits-models-zh')
  expect(chinese.offences).toEqual([])
  expect(offences).toEqual([])
})

test('the panes keep the width that they were given, by mouse and by keys', async () => {
  const { page, offences } = await start([])
  const edge = page.getByRole('separator', { name: 'Width of the session list' })
  const width = async () =>
    (await page.getByRole('navigation', { name: 'Sessions' }).boundingBox())?.width
  await edge.waitFor()
  await expect.poll(width).toBe(240)
  const box = (await edge.boundingBox())!
  const [x, y] = [box.x + box.width / 2, box.y + 300]
  await page.mouse.move(x, y)
  await page.mouse.down()
  await page.mouse.move(x + 40, y, { steps: 4 })
  await shot(page, 'limits-drag')
  await page.mouse.up()
  await expect.poll(width).toBe(280)
  await edge.focus()
  for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowRight')
  await shot(page, 'limits-separator')
  await expect.poll(width).toBe(328)
  await page.keyboard.press('Control+.')
  const right = page.getByRole('separator', { name: 'Width of the panel' })
  await right.focus()
  await page.keyboard.press('ArrowLeft')
  await expect.poll(() => right.getAttribute('aria-valuenow')).toBe('436')

  // A page that was left takes its last change along; the next one may be faster.
  await expect
    .poll(async () => {
      await page.reload()
      await edge.waitFor()
      return [await width(), await right.getAttribute('aria-valuenow')]
    })
    .toEqual([328, '436'])
  await edge.dblclick()
  await expect.poll(width).toBe(240)
  expect(offences).toEqual([])
})
