import { expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import {
  answerByKey,
  keyTo,
  openPage,
  pressIn,
  prompt,
  shots,
  tabTo,
  untilRest,
  untilUncovered,
} from './browser'
import { startHost } from './host'
import { modelID, startModel, type Round } from './model'
import { useStage } from './stage'

const stage = useStage()

const read = (file_path: string) => ({ name: 'Read', input: { file_path } })
const edit = (old_string: string, new_string: string) => ({
  name: 'Edit',
  input: { file_path: 'main.go', old_string, new_string },
})
const bash = (command: string) => ({ name: 'Bash', input: { command } })

const rounds: Round[] = [
  { text: 'I’ll look at the program first.', calls: [read('main.go'), read('go.mod')] },
  { calls: [read('readme'), { name: 'Grep', input: { pattern: 'main', path: '.' } }] },
  { text: 'Now I change it.', calls: [edit('one', 'two')] },
  { calls: [bash('make test')] },
  { text: 'It says two now, but the tests fail.' },
  { text: 'You are welcome.' },
]

/** Starts a session in which edits are allowed and commands ask. */
async function start(script: Round[]) {
  const model = (stage.model = await startModel(script))
  // Local models are free, so the model gets an address that is not a loopback address.
  const url = model.url.replace('127.0.0.1', '0.0.0.0')
  const price = { provider: 'compat', context_window: 400_000, input: 2, output: 10 }
  const host = (stage.host = await startHost({
    models: [{ ...price, id: modelID, display_name: 'Scripted' }],
    env: { COMPAT_BASE_URL: url, COMPAT_API_KEY: 'test-key' },
    files: {
      'main.go': 'package main\n\nfunc main() { println("one") }\n',
      'go.mod': 'module shop\n',
      readme: 'A shop.\n',
      Makefile: 'test:\n\t@echo FAIL: it says two; false\n',
    },
  }))
  const { page, offences } = await openPage(stage.browser, host.url)
  await page.getByRole('button', { name: 'Model: Scripted' }).waitFor()
  const field = page.getByRole('textbox', { name: 'Message' })
  for (let i = 0; i < 2; i++) await field.press('Shift+Tab')
  await page.getByRole('combobox', { name: 'Permission mode: Accept edits' }).waitFor()
  return { page, offences }
}

const line = (page: Page) => page.getByRole('button', { name: /^3 read/ })
const card = (page: Page, name: string) =>
  page.getByRole('button', { name: `details of ${name}`, exact: false })

async function runTurn(page: Page) {
  await prompt(page, 'Make it say two')
  await answerByKey(page)
  await line(page).waitFor()
  await untilRest(page)
}

test('a finished turn is one line that says what it did, and unfolds, by keyboard only', async () => {
  const { page, offences } = await start(rounds)
  await prompt(page, 'Make it say two')
  const question = page.getByRole('region', { name: 'Needs you: Bash' })
  await question.waitFor()

  // While it runs nothing is folded; its runs of calls are grouped.
  const group = page.getByRole('button', { name: 'Read 3, searched 1', exact: true })
  await group.waitFor()
  await page.getByText('I’ll look at the program first.').waitFor()
  await shots(page, 'turns-running')
  await answerByKey(page)

  await page.getByText('It says two now, but the tests fail.').waitFor()
  await line(page).waitFor()
  const summary = async () => (await line(page).innerText()).replace(/\s+/g, ' ')
  await expect
    .poll(summary)
    .toMatch(
      /^3 read, 1 search, 1 changed, you were asked once, tests failed \+1 −1 · [\d.]+ m?s · <?\$0\.0\d$/,
    )
  await page.getByText('I’ll look at the program first.').waitFor({ state: 'detached' })
  // The last failure stays in sight.
  await page.getByText('FAIL: it says two').waitFor()
  await shots(page, 'turns-folded')

  await pressIn(page.getByRole('log'), line(page))
  await line(page).and(page.locator('[aria-expanded=true]')).waitFor()
  await page.getByText('I’ll look at the program first.').waitFor()
  await pressIn(page.getByRole('log'), group)
  await pressIn(page.getByRole('log'), card(page, 'Read go.mod'))
  await page.getByText('module shop').waitFor()
  await shots(page, 'turns-unfolded')

  // It stays unfolded while other turns begin and end, and when the session is opened again.
  await prompt(page, 'Thank you')
  await page.getByText('You are welcome.').waitFor()
  await untilRest(page)
  await page.keyboard.press('Alt+n')
  await page.getByRole('heading', { name: /^What shall we work on/ }).waitFor()
  const sessions = page.getByRole('navigation', { name: 'Sessions' })
  await pressIn(sessions, sessions.getByRole('button', { name: 'idle Make it say two' }))
  await page.getByText('I’ll look at the program first.').waitFor()
  await page.getByText('module shop').waitFor()
  expect(offences).toEqual([])
})

test('a turn and its groups unfold, by keyboard only', async () => {
  const { page, offences } = await start(rounds)
  await runTurn(page)
  await page.keyboard.press('Alt+m')
  await page.keyboard.press('Shift+F6')
  await page.keyboard.press('Tab')
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.textContent?.trim() ?? ''))
    .toMatch(/^3 read/)
  await page.keyboard.press('Enter')
  await page.getByText('I’ll look at the program first.').waitFor()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await card(page, 'Read readme').waitFor()
  await page.keyboard.press('Enter')
  await card(page, 'Read readme').waitFor({ state: 'detached' })
  await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('Enter')
  await page.getByText('I’ll look at the program first.').waitFor({ state: 'detached' })
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.textContent?.trim() ?? ''))
    .toMatch(/^3 read/)
  expect(offences).toEqual([])
})

test('Ctrl+O shows everything, then a summary, which is announced, kept and in the settings, by keyboard only', async () => {
  const { page, offences } = await start(rounds)
  await runTurn(page)
  const first = page.getByText('I’ll look at the program first.')
  await page.keyboard.press('Control+o')
  await page.getByText('Conversation: Verbose').waitFor()
  await first.waitFor()
  await card(page, 'Read go.mod').waitFor()
  await line(page).waitFor({ state: 'detached' })
  await shots(page, 'turns-verbose')

  await page.keyboard.press('Control+o')
  await page.getByText('Conversation: Summary').waitFor()
  await line(page).waitFor()
  await page.getByText('It says two now, but the tests fail.').waitFor()
  await page.getByText('FAIL: it says two').waitFor({ state: 'detached' })
  await shots(page, 'turns-summary')

  await page.reload()
  await line(page).waitFor()
  await page.getByText('FAIL: it says two').waitFor({ state: 'detached' })
  await page.keyboard.press('Control+,')
  await tabTo(page.getByRole('tab', { selected: true }))
  for (let at = 0; at < 4; at++) await page.keyboard.press('ArrowRight')
  await page.getByRole('radio', { name: 'Summary', checked: true }).waitFor()
  await shots(page, 'turns-settings')
  await tabTo(page.getByRole('radio', { name: 'Summary' }))
  await keyTo(page.getByRole('radio', { name: 'Normal' }), 'ArrowUp')
  await page.keyboard.press('Escape')
  await page.getByText('FAIL: it says two').waitFor()
  await untilUncovered(page)
  await page.keyboard.press('Control+/')
  await page.getByText('Ctrl+O').waitFor()
  expect(offences).toEqual([])
})
