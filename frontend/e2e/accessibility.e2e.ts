import { expect, test } from 'vitest'
import { violations } from './axe'
import { answer, openPage, openPanel, prompt, shots, untilRest } from './browser'
import { startHost } from './host'
import { modelID, startModel } from './model'
import { useStage } from './stage'

const stage = useStage()
const served = (model: { url: string }) => ({
  models: [{ id: modelID, provider: 'compat', display_name: 'Scripted' }],
  env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
})

test('axe reports nothing about the main screens, light and dark', async () => {
  const model = (stage.model = await startModel([
    {
      text: `A table and code:\n\n| a | b |\n|---|---|\n| ${'wide '.repeat(60)} | 2 |\n\n\`\`\`go\nvar x = "${'long '.repeat(60)}"\n\`\`\``,
      calls: [
        { name: 'Read', input: { file_path: 'missing' } },
        { name: 'Bash', input: { command: 'seq 200; exit 3' } },
      ],
    },
    { text: 'Done.' },
  ]))
  const host = (stage.host = await startHost(served(model)))
  const { page } = await openPage(stage.browser, host.url)
  const found: string[] = []
  const check = async (screen: string) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      found.push(...(await violations(page)).map((each) => `${screen}, ${colorScheme}: ${each}`))
    }
    await page.emulateMedia({ colorScheme: 'light' })
  }
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  await check('the start page')
  await prompt(page, 'Go')
  const question = page.getByRole('region', { name: 'Needs you: Bash' })
  await question.waitFor()
  await check('a question')
  await answer(question)
  await page.getByText('Done.').waitFor()
  await untilRest(page)
  await check('a conversation')
  for (const density of ['everything of a turn', 'a summary', 'a folded turn']) {
    await page.keyboard.press('Control+o')
    await check(density)
  }
  await page.locator('button[data-key^="f"]').click()
  await page.getByText('A table and code').waitFor()
  await check('an unfolded turn')
  for (const name of ['Cost', 'Running']) {
    await openPanel(page, name)
    await check(`the panel ${name}`)
  }
  for (const [keys, tab] of [
    ['Control+,', 'Keys'],
    ['Control+/', 'Keyboard shortcuts'],
  ]) {
    await page.keyboard.press(keys!)
    await page.getByRole('dialog', { name: 'Settings' }).waitFor()
    await check(`the settings at ${tab}`)
    await page.keyboard.press('Escape')
    await page.getByRole('dialog', { name: 'Settings' }).waitFor({ state: 'detached' })
  }
  expect(found).toEqual([])
})

test('F6 moves through the regions of the window, and the help says so', async () => {
  const model = (stage.model = await startModel([{ text: 'Done.' }]))
  const host = (stage.host = await startHost(served(model)))
  const { page, offences } = await openPage(stage.browser, host.url)
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  await prompt(page, 'Go')
  await page.getByText('Done.').waitFor()
  const holds = (name: string, selector: string) =>
    expect
      .poll(() => page.evaluate((it) => Boolean(document.activeElement?.closest(it)), selector), {
        message: name,
      })
      .toBe(true)
  const field = page.getByRole('textbox', { name: 'Message' })
  await field.fill('Kept')
  const regions: [string, string][] = [
    ['panels', 'nav[aria-label=Panels]'],
    ['sessions', 'nav[aria-label=Sessions]'],
    ['header', 'header'],
    ['conversation', '[role=log]'],
    ['composer', '[data-composer]'],
  ]
  await field.focus()
  for (const [name, selector] of regions) {
    await page.keyboard.press('F6')
    await holds(name, selector)
  }
  for (const [name, selector] of regions.toReversed().slice(1)) {
    await page.keyboard.press('Shift+F6')
    await holds(name, selector)
  }
  expect(await field.inputValue()).toBe('Kept')
  await page.keyboard.press('Control+/')
  const settings = page.getByRole('dialog', { name: 'Settings' })
  await settings.getByText('Next part of the window', { exact: true }).waitFor()
  await page.keyboard.press('F6') // an open dialog keeps the focus
  await holds('dialog', '[role=dialog]')
  await shots(page, 'accessibility-help')
  expect(offences).toEqual([])
})
