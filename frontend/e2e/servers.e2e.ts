import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { violations } from './axe'
import { answerByKey, openPage, openPanelByKey, prompt, shots, tabTo, untilArmed } from './browser'
import { startHost } from './host'
import { startModel, type Script } from './model'
import { useStage } from './stage'

const stage = useStage()
const program = resolve('e2e/server.mjs')
const settings = (servers: object) => JSON.stringify({ mcpServers: servers })
const paint = { paint: { command: process.execPath, args: [program] } }

async function start(rounds: Script, servers?: object, locale = 'en') {
  const model = (stage.model = await startModel(rounds))
  const host = (stage.host = await startHost({
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
    files: { 'shop.ts': '', ...(servers && { '../.agent/settings.json': settings(servers) }) },
  }))
  return { host, model, ...(await openPage(stage.browser, host.url, { locale })) }
}

const call = (tool: string, input: object = {}) => ({
  calls: [{ name: `mcp__paint__${tool}`, input }],
})

// OAS-401, OAS-408, OAS-410
test('a server is tested, added, restarted when it died, and loses a tool, by keyboard only', async () => {
  const { page, offences } = await start([])
  const panel = await openPanelByKey(page, 'MCP servers')
  await panel.getByText('There are no servers.').waitFor()
  await tabTo(panel.getByRole('button', { name: 'Add a server' }))
  await page.keyboard.press('Enter')
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
  expect(await pid.innerText()).not.toBe(before)
  expect(await page.locator(':focus').innerText()).toBe('Restart')

  const power = panel.getByRole('switch', { name: 'Offer die to the agent' })
  await tabTo(power)
  await page.keyboard.press('Space')
  await panel.getByText('2 of 3 tools').first().waitFor()
  expect(await power.isChecked()).toBe(false)
  expect(await power.evaluate((it) => it === document.activeElement)).toBe(true)
  await shots(page, 'servers-off')
  expect(offences).toEqual([])
})

test('a question of a server is answered, and a prompt of it is sent, by keyboard only', async () => {
  const { page, model, offences } = await start(
    [call('ask'), { text: 'You chose.' }, { text: 'Hello, Ada.' }],
    paint,
  )
  await prompt(page, 'Ask me')
  await answerByKey(page)
  const question = page.locator('[data-server-question]')
  await question.getByText('Which colour do you want?').waitFor()
  await untilArmed(question)
  await page.keyboard.press('Alt+a')
  await shots(page, 'servers-asked')
  expect(await violations(page)).toEqual([])
  await tabTo(question.getByRole('combobox', { name: 'Colour' }))
  await page.keyboard.press('b')
  await tabTo(question.getByRole('button', { name: 'Send' }))
  await page.keyboard.press('Enter')
  await question.waitFor({ state: 'detached' })
  await page.getByText('You chose.').waitFor()
  expect(model.heard.at(-1)).toContain('blue')

  const field = page.getByRole('textbox', { name: 'Message', exact: true })
  await field.fill('/gre')
  await page.getByRole('option', { name: /mcp__paint__greet/ }).waitFor()
  await shots(page, 'servers-slash')
  expect(await violations(page)).toEqual([])
  await page.keyboard.press('Enter')
  expect(await field.inputValue()).toBe('/mcp__paint__greet ')
  await page.keyboard.type('Ada')
  await page.keyboard.press('Enter')
  await page.getByText('Hello, Ada.').waitFor()
  expect(model.heard.at(-1)).toContain('Please greet Ada.')
  expect(offences).toEqual([])
})
