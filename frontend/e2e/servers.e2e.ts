import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { violations } from './axe'
import {
  answerByKey,
  openPage,
  openPanelByKey,
  pressIn,
  prompt,
  shots,
  tabTo,
  untilArmed,
  untilFocused,
  untilRest,
} from './browser'
import { startHost } from './host'
import { startModel, type Script } from './model'
import { useStage } from './stage'

const stage = useStage()
const program = resolve('e2e/server.mjs')
const settings = (servers: object) => JSON.stringify({ mcpServers: servers })
const paint = { paint: { command: process.execPath, args: [program] } }

async function start(
  rounds: Script,
  servers?: object,
  locale = 'en',
  files: Record<string, string> = {},
) {
  const model = (stage.model = await startModel(rounds))
  const host = (stage.host = await startHost({
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
    files: { ...files, ...(servers && { '../.agent/settings.json': settings(servers) }) },
  }))
  return { host, model, ...(await openPage(stage.browser, host.url, { locale })) }
}

// OAS-401, OAS-408, OAS-410
test('a server is tested, added, restarted when it died, and loses a tool, by keyboard only', async () => {
  const { page, offences } = await start([])
  const panel = await openPanelByKey(page, 'MCP servers')
  await panel.getByText('There are no servers.').waitFor()
  await tabTo(panel.getByRole('button', { name: 'Add a server' }))
  await page.keyboard.press('Enter')
  await untilFocused(panel.getByRole('textbox', { name: 'Name' }))
  await page.keyboard.type('paint')
  await tabTo(panel.getByRole('textbox', { name: 'Command' }))
  await page.keyboard.type('no-such-program-42')
  await tabTo(panel.getByRole('button', { name: 'Test', exact: true }))
  await page.keyboard.press('Enter')
  await panel.getByText('It does not work.').waitFor()
  await shots(page, 'servers-tested-badly')
  expect(await violations(page)).toEqual([])
  const command = panel.getByRole('textbox', { name: 'Command' })
  await tabTo(command)
  await page.keyboard.press('Control+a')
  await page.keyboard.type(`${process.execPath} ${program}`)
  await tabTo(panel.getByRole('button', { name: 'Test', exact: true }))
  await page.keyboard.press('Enter')
  await panel.getByText('It works.').waitFor()
  await shots(page, 'servers-tested')
  expect(await violations(page)).toEqual([])
  await tabTo(panel.getByRole('button', { name: 'Save', exact: true }))
  await page.keyboard.press('Enter')
  await panel.getByText('Saved: paint.').waitFor()
  await panel.getByText(/^connected · 3 tools/).waitFor()
  await shots(page, 'servers-added')
  expect(await violations(page)).toEqual([])

  await tabTo(panel.getByRole('button', { name: 'Show paint' }))
  await page.keyboard.press('Enter')
  await panel.getByText('paint is ready').waitFor()
  await tabTo(panel.getByRole('button', { name: 'Show echo' }))
  await page.keyboard.press('Enter')
  await panel.getByText('Repeats words⟨U+202E⟩.').waitFor()
  await shots(page, 'servers-shown')
  expect(await violations(page)).toEqual([])

  const pid = panel.getByText('Process', { exact: true }).locator('xpath=following-sibling::dd[1]')
  const before = await pid.innerText()
  process.kill(Number(before), 'SIGKILL')
  await panel.getByText(/^connected ·/).waitFor({ state: 'detached' })
  await shots(page, 'servers-dead')
  expect(await violations(page)).toEqual([])
  await tabTo(panel.getByRole('button', { name: 'Restart' }))
  await page.keyboard.press('Enter')
  await panel.getByText(/^connected · 3 tools/).waitFor()
  await expect.poll(() => pid.innerText()).not.toBe(before)
  await untilFocused(panel.getByRole('button', { name: 'Restart' }))

  const power = panel.getByRole('switch', { name: 'Offer die to the agent' })
  await tabTo(power)
  await page.keyboard.press('Space')
  await panel.getByText('2 of 3 tools').first().waitFor()
  await expect.poll(() => power.isChecked()).toBe(false)
  await untilFocused(power)
  await shots(page, 'servers-off')
  expect(offences).toEqual([])
})

test('a prompt of a server is sent as a command, by keyboard only', async () => {
  const greet = (said: string) => ({
    text: said.includes('Please greet Ada.') ? 'Hello, Ada.' : 'Who?',
  })
  const { page, offences } = await start([greet], paint)
  const field = page.getByRole('textbox', { name: 'Message', exact: true })
  const option = page.getByRole('option', { name: /mcp__paint__greet/ })
  // The menu, which is read again with each change, shows whether the server is connected.
  await field.fill('/gre')
  await option.waitFor()
  await shots(page, 'servers-slash')
  expect(await violations(page)).toEqual([])
  await page.keyboard.press('Enter')
  await expect.poll(() => field.inputValue()).toBe('/mcp__paint__greet ')
  await page.keyboard.press('Enter')
  await page.getByText('who is missing. Type it after the command.').waitFor()
  await expect.poll(() => field.inputValue()).toBe('/mcp__paint__greet ')
  await shots(page, 'servers-slash-missing')
  expect(await violations(page)).toEqual([])
  await page.keyboard.type('Ada')
  await page.keyboard.press('Enter')
  await page.getByText('Hello, Ada.').waitFor()
  expect(offences).toEqual([])
})

// K-35
test('a server of the project waits for trust, in Chinese, by keyboard only', async () => {
  const { page, offences } = await start([], undefined, 'zh-CN', { '.mcp.json': settings(paint) })
  const panel = page.getByRole('complementary', { name: 'MCP 服务器' })
  const rail = page.getByRole('navigation', { name: '面板' })
  await pressIn(rail, rail.getByRole('button', { name: /^MCP 服务器/ }))
  await panel.getByText('等待你的信任').waitFor()
  await shots(page, 'servers-untrusted-zh')
  expect(await violations(page)).toEqual([])
  await tabTo(panel.getByRole('button', { name: '查看…' }))
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog')
  await dialog.getByText('server.mjs').first().waitFor()
  await shots(page, 'servers-review-zh')
  expect(await violations(page)).toEqual([])
  await tabTo(dialog.getByRole('button', { name: '仅信任以上内容' }))
  await page.keyboard.press('Enter')
  await panel.getByText(/^已连接 · 3 个工具/).waitFor()
  expect(offences).toEqual([])
})

test('a question of a server is answered, and its call has a card, by keyboard only', async () => {
  const call = (tool: string, input: object) => ({
    calls: [{ name: `mcp__paint__${tool}`, input }],
  })
  const { page, model, offences } = await start(
    [
      call('echo', { words: 'Hello there' }),
      { text: 'It echoed.' },
      call('ask', {}),
      { text: 'You chose.' },
    ],
    paint,
  )
  const panel = await openPanelByKey(page, 'MCP servers')
  await panel.getByText(/^connected · 3 tools/).waitFor()
  await prompt(page, 'Echo it')
  await answerByKey(page)
  await page.getByText('It echoed.').waitFor()
  await untilRest(page)
  await prompt(page, 'Ask me')
  await answerByKey(page)
  const question = page.locator('[data-server-question]')
  await question.getByText('Which colour do you want?').waitFor()
  await page.keyboard.press('Alt+a')
  await untilArmed(question)
  await shots(page, 'servers-asked')
  expect(await violations(page)).toEqual([])
  await tabTo(question.getByRole('combobox', { name: 'Colour' }))
  await page.keyboard.press('b')
  await tabTo(question.getByRole('button', { name: 'Send' }))
  await page.keyboard.press('Enter')
  await question.waitFor({ state: 'detached' })
  await page.getByText('You chose.').waitFor()
  expect(model.heard.at(-1)).toContain('blue')
  await tabTo(panel.getByRole('button', { name: 'Show paint' }))
  await page.keyboard.press('Enter')
  await panel.getByText('2, of which 0 failed').waitFor()
  await shots(page, 'servers-called')
  expect(await violations(page)).toEqual([])
  expect(offences).toEqual([])
})

// The panel Waiting lists what waits of every session, also what a server asks.
test('a question of a server is answered from another session, in the panel Waiting, by keyboard only', async () => {
  const { page, model, offences } = await start(
    [{ calls: [{ name: 'mcp__paint__ask', input: {} }] }, { text: 'You chose.' }],
    paint,
  )
  await (await openPanelByKey(page, 'MCP servers')).getByText(/^connected · 3 tools/).waitFor()
  await prompt(page, 'Ask me from afar')
  await answerByKey(page)
  await page.locator('[data-server-question]').waitFor()
  await page.keyboard.press('Alt+n')
  const panel = await openPanelByKey(page, 'Waiting')
  const asked = panel.getByRole('list', { name: 'Questions of servers' })
  await asked.getByText('Ask me from afar').waitFor()
  await asked.getByText('Which colour do you want?').waitFor()
  await shots(page, 'servers-waiting')
  expect(await violations(page)).toEqual([])
  await tabTo(asked.getByRole('combobox', { name: 'Colour' }))
  await page.keyboard.press('b')
  await tabTo(asked.getByRole('button', { name: 'Send' }))
  await page.keyboard.press('Enter')
  await asked.waitFor({ state: 'detached' })
  await panel.getByText('Nothing waits').waitFor()
  expect(model.heard.at(-1)).toContain('blue')
  expect(offences).toEqual([])
})
