import { expect, test } from 'vitest'
import { openPage, prompt, shot, untilRest } from './browser'
import { startHost } from './host'
import { startModel } from './model'
import { useStage } from './stage'

const stage = useStage()
const models = [
  {
    provider: 'compat',
    id: 'asked-1',
    display_name: 'Asked One',
    context_window: 400_000,
    input: 10,
    output: 0,
  },
]
const usage = { input: 1000, cached: 0, output: 10 }

// A side question sees the conversation, and leaves it as it was.
test('/btw is answered beside the conversation', async () => {
  const model = (stage.model = await startModel([
    { text: 'The gate is in `gate.go`.', usage },
    { text: 'It is **gate.go**, as I said.', usage },
    { text: 'Because it decides who may pass.', usage },
    { text: 'You are welcome.', usage },
  ]))
  const host = (stage.host = await startHost({
    models,
    env: { COMPAT_BASE_URL: model.url.replace('127.0.0.1', '0.0.0.0'), COMPAT_API_KEY: 'test-key' },
  }))
  const { page, offences } = await openPage(stage.browser, host.url)
  await prompt(page, 'Where is the gate?')
  await page.getByText('The gate is in').waitFor()
  await untilRest(page)

  await prompt(page, '/btw Which file was it?')
  const dialog = page.getByRole('dialog', { name: 'Side question' })
  await dialog.getByText('You asked: Which file was it?').waitFor()
  await dialog.getByText('as I said.').waitFor()
  await dialog.getByText('asked-1 · $0.01').waitFor()
  await shot(page, 'aside')
  await page.emulateMedia({ colorScheme: 'dark' })
  await shot(page, 'aside-dark')
  await page.emulateMedia({ colorScheme: 'light' })
  await dialog.getByRole('textbox', { name: 'Question' }).pressSequentially('Why is it called so?')
  await page.keyboard.press('Enter')
  await dialog.getByText('Because it decides').waitFor()
  await page.setViewportSize({ width: 900, height: 700 })
  await shot(page, 'aside-900')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })

  await page.setViewportSize({ width: 1280, height: 800 })
  expect(await page.getByText('Which file was it?').count()).toBe(0)
  await prompt(page, 'Thank you')
  await page.getByText('You are welcome.').waitFor()
  expect(model.heard[1]).toContain('Which file was it?')
  expect(model.heard[3]).not.toContain('Which file was it?')
  expect(offences).toEqual([])
})
