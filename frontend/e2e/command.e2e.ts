import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { openPage, prompt, shot, shots } from './browser'
import { startHost } from './host'
import { startModel, type Script } from './model'
import { useStage } from './stage'

const stage = useStage()

async function start(rounds: Script) {
  const model = (stage.model = await startModel(rounds))
  const host = (stage.host = await startHost({
    files: { 'notes.txt': 'buy paint\n' },
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  return { host, model, ...(await openPage(stage.browser, host.url)) }
}

const field = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true })
const card = (page: Page, command: string) =>
  page.locator('.command', { has: page.getByRole('button', { name: `output of ${command}` }) })

async function carrying(token: string): Promise<number> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'args'])
  return stdout.split('\n').filter((line) => line.includes(token)).length
}

// OAS-102
test('the user runs commands, stops one, and the agent reads them with the next message', async () => {
  let told = ''
  const { page, offences } = await start([
    (conversation) => {
      told = conversation
      return { text: 'You should buy paint.' }
    },
  ])
  await field(page).fill('!ls; cat notes.txt')
  await page.getByText('Run a command').waitFor()
  await shots(page, 'command-composer')
  await field(page).press('Enter')
  await card(page, 'ls; cat notes.txt').getByText('buy paint').waitFor()
  await expect.poll(() => field(page).inputValue()).toBe('')

  await prompt(page, '!echo "no such shop" >&2; exit 3')
  await card(page, 'echo').getByText('exit 3', { exact: true }).waitFor()

  // The output of a running command is shown live, and no other command can run beside it.
  const token = `idle-${process.pid}-${Date.now()}`
  const endless = `printf '\\033[32mready\\033[0m\\n'; sleep 300; : ${token}`
  await prompt(page, `!bash -c "${endless}"`)
  const running = card(page, 'bash -c')
  await running.getByText('ready', { exact: true }).waitFor()
  await running.getByText(/^running\s+\d+ s$/).waitFor()
  expect(await carrying(token)).toBeGreaterThan(0)
  await field(page).fill('!ls')
  await page.getByText('once the other command has ended').waitFor()
  await field(page).press('Enter')
  expect(await field(page).inputValue()).toBe('!ls')
  await shots(page, 'command-running')

  // A page that opens meanwhile shows the output so far. A message waits for the
  // command, and is not sent after one that was stopped.
  await page.reload()
  await running.getByText('ready', { exact: true }).waitFor()
  await field(page).fill('What do I need?')
  await field(page).press('Enter')
  await page.getByText('when the command has ended').waitFor()
  await shot(page, 'command-queue')
  await page.getByRole('button', { name: 'Stop' }).click()
  await running.getByText('stopped', { exact: true }).waitFor()
  await expect.poll(() => carrying(token)).toBe(0)
  await page.getByText('waits: the command did not end by itself').waitFor()
  await page.getByText('The command has ended: stopped').waitFor({ state: 'attached' })
  expect(told).toBe('')

  await page.reload()
  await running.getByText('stopped', { exact: true }).waitFor()
  await card(page, 'echo').getByText('no such shop', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Send now' }).click()
  await page.getByText('You should buy paint.').waitFor()
  for (const part of ['cat notes.txt', 'buy paint', 'exit code 3', 'ready', 'stopped before']) {
    expect(told).toContain(part)
  }
  expect(told.indexOf('buy paint')).toBeLessThan(told.indexOf('What do I need?'))
  await shots(page, 'command-told')
  expect(offences).toEqual([])
})

test('long output is cut, shown in full on demand, and folded with the keyboard', async () => {
  const { page, offences } = await start([])
  await prompt(page, '!seq 1 20000')
  const seq = card(page, 'seq 1 20000')
  const all = seq.getByRole('button', { name: /^Show all/ })
  await all.waitFor()
  await shots(page, 'command-long')
  await all.click()
  const whole = page.getByRole('dialog', { name: 'Your command' })
  await whole.getByText('9000\n9001').waitFor()
  await page.keyboard.press('Escape')
  await whole.waitFor({ state: 'detached' })
  const toggle = seq.getByRole('button', { name: 'Show or hide the output of seq 1 20000' })
  await toggle.press('Enter')
  await expect.poll(() => toggle.getAttribute('aria-expanded')).toBe('false')
  await shot(page, 'command-folded')
  expect(offences).toEqual([])
})

test('a command that a crash interrupted is ended when the folder is opened again', async () => {
  const { page, host: first } = await start([])
  const token = `cut-${process.pid}-${Date.now()}`
  await prompt(page, `!echo ready; bash -c 'sleep 300; : ${token}'`)
  await card(page, 'echo ready').getByText('ready', { exact: true }).waitFor()
  await first.stop('SIGKILL')
  await expect.poll(() => carrying(token)).toBe(0)

  const host = (stage.host = await startHost({ from: first }))
  const again = await openPage(stage.browser, host.url)
  const cut = card(again.page, 'echo ready')
  await cut.getByText('stopped', { exact: true }).waitFor()
  await cut.getByText('What it printed is lost.').waitFor()
  await prompt(again.page, '!echo on')
  await card(again.page, 'echo on').getByText('on', { exact: true }).waitFor()
  expect(again.offences).toEqual([])
})

test('commands in Chinese', async () => {
  const { page, offences } = await start([])
  await prompt(page, '!for file in *.txt; do\n  wc -l $file\ndone\nexit 4')
  await card(page, 'for file in').getByText('exit 4', { exact: true }).waitFor()
  await page.keyboard.press('Control+,')
  await page.getByRole('tab', { name: 'Appearance' }).click()
  await page.getByRole('radio', { name: '简体中文' }).click()
  await page.keyboard.press('Escape')
  await page.getByRole('textbox', { name: '消息', exact: true }).fill('!git status')
  await page.getByText('智能体会随你的下一条消息读到它的输出。').waitFor()
  await shot(page, 'command-zh')
  expect(offences).toEqual([])
})
