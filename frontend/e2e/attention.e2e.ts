import { expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { answerByKey, openPage, openPanelByKey, prompt, shot, shots, untilArmed } from './browser'
import { startHost } from './host'
import { modelID, startModel, type Round } from './model'
import { useStage } from './stage'

const stage = useStage()

const bash = (command: string) => ({ name: 'Bash', input: { command } })
const question = (page: Page, text: string) =>
  page.getByRole('region', { name: 'Needs you: Bash' }).filter({ hasText: text })

async function start(rounds: Round[]) {
  const model = (stage.model = await startModel(rounds))
  // Local models are free, so the model gets an address that is not a loopback address.
  const url = model.url.replace('127.0.0.1', '0.0.0.0')
  const price = { provider: 'compat', context_window: 400_000, input: 2, output: 10 }
  const host = (stage.host = await startHost({
    models: [{ ...price, id: modelID, display_name: 'Scripted' }],
    env: { COMPAT_BASE_URL: url, COMPAT_API_KEY: 'test-key' },
    files: { 'a.txt': 'a\n' },
  }))
  return openPage(stage.browser, host.url)
}

test('a failed command unfolds at its end, a mistake of the agent stays folded, costs are updated at once, by keyboard only', async () => {
  const { page, offences } = await start([
    {
      usage: { input: 100_000, cached: 0, output: 100 },
      calls: [{ name: 'Edit', input: { file_path: 'a.txt', old_string: 'b', new_string: 'c' } }],
    },
    { calls: [bash('touch x; seq 200; echo the cause; exit 3')] },
    { text: 'I see.', calls: [bash('touch y')] },
    { text: 'All is done.' },
  ])
  await page.getByRole('button', { name: 'Model: Scripted' }).waitFor()
  const panel = await openPanelByKey(page, 'Cost')
  await page.keyboard.press('Alt+m')
  for (let i = 0; i < 2; i++) await page.keyboard.press('Shift+Tab')
  await page.getByRole('combobox', { name: 'Permission mode: Accept edits' }).waitFor()
  await prompt(page, 'Go')
  await question(page, 'seq 200').waitFor()
  await panel.getByText('$0.21', { exact: true }).first().waitFor()
  await panel.getByText('2 requests').first().waitFor()
  expect(await panel.getByText('The cost of each request is added up here').count()).toBe(0)
  const slip = page.getByRole('button', { name: /details of Edit a\.txt/ })
  await expect.poll(() => slip.getAttribute('aria-expanded')).toBe('false')

  await answerByKey(page)
  await question(page, 'touch y').waitFor()
  const failed = page.getByRole('button', { name: /details of Bash touch x/ })
  await expect.poll(() => failed.getAttribute('aria-expanded')).toBe('true')
  const [, result] = (await failed.getAttribute('aria-labelledby'))?.split(' ') ?? []
  expect(await page.locator(`[id="${result}"]`).innerText()).toBe('exit 3')
  const terminal = page.locator('.terminal').filter({ hasText: 'the cause' })
  const isAtItsEnd = () =>
    terminal.evaluate((it) => {
      const box = it.closest('.body')!
      return box.scrollTop > 0 && box.scrollHeight - box.scrollTop - box.clientHeight < 2
    })
  await expect.poll(isAtItsEnd).toBe(true)
  await shots(page, 'attention-failed')
  await answerByKey(page)
  await page.getByText('All is done.').waitFor()
  expect(offences).toEqual([])
})

test('keys go to the next question or an open dialog, not to what is behind it', async () => {
  const { page, offences } = await start([
    { calls: [bash('touch one'), bash('touch two')] },
    { text: 'All is done.' },
  ])
  await prompt(page, 'Go')
  await question(page, 'touch one').waitFor()
  const sidebar = page.getByRole('navigation', { name: 'Sessions' })

  await page.keyboard.press('Control+,')
  const settings = page.getByRole('dialog', { name: 'Settings' })
  await settings.waitFor()
  await page.keyboard.press('Control+b')
  await page.keyboard.press('Alt+n')
  await settings.waitFor()
  expect(await sidebar.count()).toBe(1)
  await question(page, 'touch one').waitFor()
  await settings.getByRole('button', { name: 'Close' }).hover()
  await page.locator('.ui-tooltip').waitFor()
  await shot(page, 'attention-tooltip')
  await page.keyboard.press('Escape')
  await settings.waitFor({ state: 'detached' })
  await page.mouse.move(0, 0)

  await page.keyboard.press('Alt+a')
  const focused = (text: string) =>
    expect
      .poll(() => question(page, text).evaluate((it) => it === document.activeElement))
      .toBe(true)
  await focused('touch one')
  await untilArmed(question(page, 'touch one'))
  await question(page, 'touch one').getByRole('button', { name: 'Allow', exact: true }).focus()
  await page.keyboard.press('Enter')
  await focused('touch two')
  await shot(page, 'attention-next')

  // A tooltip goes with its element, also when that is put away under the pointer.
  await sidebar.getByRole('button', { name: 'New session' }).hover()
  await page.locator('.ui-tooltip').waitFor()
  await page.keyboard.press('Control+b')
  await sidebar.waitFor({ state: 'detached' })
  await expect.poll(() => page.locator('.ui-tooltip').count()).toBe(0)
  await page.keyboard.press('Control+b')
  await page.mouse.move(0, 0)

  // The first Escape stops the turn even if a tooltip is visible.
  await page.getByRole('textbox', { name: 'Message' }).focus()
  await page.getByRole('button', { name: /^Stop/ }).hover()
  await page.locator('.ui-tooltip').waitFor()
  await page.keyboard.press('Escape')
  await page.getByText('Stopped. What was said and done is kept.').waitFor()
  expect(offences).toEqual([])
})
