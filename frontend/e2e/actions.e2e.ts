import { expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { violations } from './axe'
import { answerByKey, openPage, prompt, resting, shot, untilFocused, untilRest } from './browser'
import { startHost } from './host'
import { modelID, startModel, type Round } from './model'
import { useStage } from './stage'

const stage = useStage()

const rounds: Round[] = [
  {
    text: 'I look first.',
    calls: [
      { name: 'Read', input: { file_path: 'main.go' } },
      { name: 'Bash', input: { command: 'printf "\\033[31mFAIL\\033[0m it says one\\n"; exit 2' } },
    ],
  },
  { text: 'It says **one**, see [the docs](https://example.com):\n\n- `main.go`\n- the tests' },
  { text: 'Again, it says one.' },
  { text: 'Changed.' },
]

async function start(options = {}, script = rounds) {
  const model = (stage.model = await startModel(script))
  const host = (stage.host = await startHost({
    models: [{ id: modelID, provider: 'compat', display_name: 'Scripted' }],
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
    files: { 'main.go': 'package main\n' },
  }))
  const opened = await openPage(stage.browser, host.url, {
    permissions: ['clipboard-read', 'clipboard-write'],
    ...options,
  })
  await opened.page.getByRole('textbox', { name: 'Message' }).waitFor()
  return { model, ...opened }
}

async function runTurn(page: Page) {
  await prompt(page, 'What does\nit say?')
  await answerByKey(page)
  await page.getByText('the tests').waitFor()
  await page.locator('.line.fold').waitFor() // the turn is one line
}

const clipboard = (page: Page) => page.evaluate(() => navigator.clipboard.readText())
const copied = (page: Page) => expect.poll(() => clipboard(page))
const focused = (page: Page) =>
  expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? ''))
const field = (page: Page) => page.getByRole('textbox', { name: 'Message' })
const written = (page: Page) => expect.poll(() => field(page).inputValue())

test('messages are copied, edited and sent again, by keyboard only', async () => {
  const { page, offences } = await start()
  const { keyboard } = page
  await runTurn(page)

  await keyboard.press('Alt+ArrowUp')
  await focused(page).toMatch(/^Answer: It says/)
  // It is told for a moment only.
  await Promise.all([
    page.getByText('Copied', { exact: true }).first().waitFor(),
    keyboard.press('c'),
  ])
  await copied(page).toBe('It says one, see the docs:\n\n• main.go\n• the tests')
  await shot(page, 'actions-keyboard')
  await keyboard.press('m')
  await copied(page).toBe(rounds[1]!.text)

  // What failed last stays in sight of a folded turn.
  await keyboard.press('ArrowUp')
  await focused(page).toMatch(/^Call: Bash/)
  await keyboard.press('o')
  await copied(page).toContain('FAIL it says one\n')
  await keyboard.press('c')
  await copied(page).toContain('printf')

  await keyboard.press('ArrowUp')
  await focused(page).toBe('Finished turn')
  await keyboard.press('m')
  await copied(page).toBe(
    [
      '> What does\n> it say?',
      'I look first.',
      '- `Read main.go` — 1 line\n- `Bash printf "\\033[31mFAIL\\033[0m it says one\\n"; exit 2` — exit 2',
      rounds[1]!.text,
    ].join('\n\n'),
  )
  await keyboard.press('Enter')
  await page.getByText('I look first.').waitFor()
  await focused(page).toBe('Finished turn')
  await keyboard.press('Enter')

  // The buttons are a toolbar, which the arrow keys reach.
  await keyboard.press('Home')
  await focused(page).toBe('Your message: What does it say?')
  await keyboard.press('ArrowRight')
  await focused(page).toBe('Copy')
  await keyboard.press('ArrowRight')
  await focused(page).toBe('Edit and resend')
  await keyboard.press('Escape')
  await focused(page).toBe('Your message: What does it say?')
  await keyboard.press('Escape')
  await focused(page).toBe('Message')

  // A draft is not lost when a message is edited.
  await keyboard.type('My draft')
  await keyboard.press('Alt+ArrowUp')
  await focused(page).toMatch(/^Answer/)
  await keyboard.press('Home')
  await focused(page).toBe('Your message: What does it say?')
  await keyboard.press('e')
  await focused(page).toBe('Message')
  await written(page).toBe('What does\nit say?')
  await shot(page, 'actions-draft')
  await keyboard.press('Escape')
  await written(page).toBe('My draft')
  await field(page).fill('')

  await keyboard.press('Alt+ArrowUp')
  await focused(page).toMatch(/^Answer/)
  await keyboard.press('r')
  await page.getByText('Again, it says one.').waitFor()
  await focused(page).toBe('Message')
  await expect.poll(() => page.getByText('What does it say?').count()).toBe(2)
  expect(offences).toEqual([])
})

test('a row that is scrolled out of view keeps the focus', async () => {
  const long = Array.from({ length: 200 }, (_, n) => `Line ${n}.`).join('\n\n')
  const script = [{ text: `${long}\n\nFirst.` }, { text: `${long}\n\nSecond.` }, { text: 'Short.' }]
  const { page, offences } = await start({}, script)
  for (const end of ['First.', 'Second.', 'Short.']) {
    await prompt(page, `To ${end}`)
    await page.getByText(end, { exact: true }).waitFor()
    await untilRest(page)
  }
  await page.keyboard.press('Alt+ArrowUp')
  await focused(page).toBe('End of a turn')
  await page.keyboard.press('ArrowUp')
  await focused(page).toBe('Answer: Short.')
  const list = page.getByRole('log').first()
  await list.locator('> div').evaluate((viewport) => (viewport.scrollTop = 0))
  await list.getByText('To First.').waitFor()
  await focused(page).toBe('Answer: Short.')
  await page.keyboard.press('c')
  await copied(page).toBe('Short.')
  await page.keyboard.press('Home')
  await focused(page).toBe('Your message: To First.')
  expect(offences).toEqual([])
})

test('hovering shows the actions beside the text, and they work by mouse', async () => {
  const { page, offences } = await start()
  await runTurn(page)
  const bar = page.getByRole('toolbar', { name: 'Actions for this message' })
  const text = page.getByText('It says one, see')
  await untilRest(page)
  await resting(text)
  expect(await bar.count()).toBe(0)
  const before = await text.boundingBox()
  await text.hover()
  await bar.waitFor()
  expect(await text.boundingBox()).toEqual(before)
  const found: string[] = []
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await shot(page, `actions-hover-${colorScheme}`)
    found.push(...(await violations(page)))
  }
  expect(found).toEqual([])
  await field(page).fill('A draft')
  await text.hover()
  await bar.getByRole('button', { name: 'Copy as Markdown' }).click()
  const told = page.locator('[data-actions]').getByText('Copied as Markdown', { exact: true })
  const { x, width } = (await told.boundingBox())!
  const pane = (await page.getByRole('region', { name: 'Conversation' }).boundingBox())!
  expect(x + width).toBeLessThanOrEqual(pane.x + pane.width)
  await copied(page).toBe(rounds[1]!.text)
  // The mouse leaves the focus in the message field.
  await page.keyboard.type('!')
  await written(page).toBe('A draft!')

  // While text is selected, its row shows nothing.
  const box = (await page.getByText('the tests').boundingBox())!
  await page.mouse.move(box.x + 2, box.y + 5)
  await page.mouse.down()
  await page.mouse.move(box.x + 60, box.y + 5, { steps: 4 })
  await expect.poll(() => bar.count()).toBe(0)
  await page.mouse.up()
  await page.mouse.move(box.x + 70, box.y + 5)
  expect(await bar.count()).toBe(0)

  await field(page).fill('')
  await page.getByText('What does').last().hover()
  await expect.poll(() => bar.getByRole('button').count()).toBe(5)
  await shot(page, 'actions-hover-prompt')
  expect((await bar.boundingBox())!.height).toBeLessThan(40) // they stand in one line
  await bar.getByRole('button', { name: 'Edit and resend' }).click()
  await written(page).toBe('What does\nit say?')
  await focused(page).toBe('Message')
  await page.getByRole('button', { name: 'Cancel editing' }).click()
  await written(page).toBe('')
  await page.getByText('What does').last().hover()
  await bar.getByRole('button', { name: 'Retry' }).click()
  await page.getByText('Again, it says one.').waitFor()
  expect(offences).toEqual([])
})

test.each([
  ['a narrow window', { viewport: { width: 700, height: 800 } }],
  ['a touch screen', { hasTouch: true, isMobile: true, viewport: { width: 420, height: 800 } }],
])('on %s the actions are in a menu', async (name, options) => {
  const { page, offences } = await start(options)
  await runTurn(page)
  const text = page.getByText('It says one, see')
  const menu = text.locator('xpath=ancestor::*[@data-item]').getByRole('button', {
    name: 'Actions for this message',
  })
  if ('hasTouch' in options) await menu.tap()
  else {
    await text.hover()
    await menu.click()
  }
  await page.getByRole('menu').waitFor()
  await shot(page, `actions-${name.split(' ')[1]}`)
  expect(await violations(page)).toEqual([])
  await Promise.all([
    page.getByText('Copied', { exact: true }).last().waitFor(),
    page.getByRole('menuitem', { name: 'Copy C', exact: true }).click(),
  ])
  await shot(page, `actions-${name.split(' ')[1]}-copied`)
  await copied(page).toBe('It says one, see the docs:\n\n• main.go\n• the tests')
  expect(offences).toEqual([])
})

test('in a narrow window the menu opens, and gives the focus back, by keyboard only', async () => {
  const { page, offences } = await start({ viewport: { width: 700, height: 800 } })
  const { keyboard } = page
  await runTurn(page)
  await keyboard.press('Alt+ArrowUp')
  await focused(page).toMatch(/^Answer/)
  await keyboard.press('Tab')
  await focused(page).toBe('Actions for this message')
  await keyboard.press('Enter')
  await untilFocused(page.getByRole('menuitem', { name: 'Copy C', exact: true }))
  await keyboard.press('ArrowDown')
  await keyboard.press('Enter')
  await copied(page).toBe(rounds[1]!.text)
  await focused(page).toBe('Actions for this message')
  await keyboard.press('Escape')
  await focused(page).toMatch(/^Answer/)

  // A density that draws other rows gives the focus to a row that is drawn.
  await keyboard.press('ArrowUp')
  await focused(page).toMatch(/^Call: Bash/)
  await keyboard.press('Control+o')
  await keyboard.press('Control+o')
  await page.getByText('FAIL', { exact: true }).waitFor({ state: 'detached' })
  await focused(page).toBe('Finished turn')
  expect(offences).toEqual([])
})
