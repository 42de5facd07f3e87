/** Servers that need the user before they can be used: one that is authorised, and one that is imported. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { Page } from 'playwright-core'
import { afterEach, expect, test } from 'vitest'
import { violations } from './axe'
import { openPage, openPanelByKey, shot, shots, tabTo } from './browser'
import { startHost, type Host } from './host'
import { useStage } from './stage'

const stage = useStage()
const json = (value: object) => JSON.stringify(value)

/** A server that wants the user to consent. */
let oauth: ReturnType<typeof spawn> | undefined
afterEach(() => {
  oauth?.kill()
  oauth = undefined
})

async function startOAuth(...flags: string[]) {
  const child = spawn(resolve('../build/bin/oauth-server'), flags, {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  oauth = child
  const lines = createInterface(child.stdout)
  const [line] = (await once(lines, 'line')) as [string]
  const revoke = async () => {
    child.stdin.write('revoke\n')
    await once(lines, 'line')
  }
  return { url: (JSON.parse(line) as { url: string }).url, revoke }
}

/** All that the program has written down, except for the file of keys. */
async function written({ home }: Host): Promise<string> {
  const entries = await readdir(home, { recursive: true, withFileTypes: true })
  const files = entries.filter((it) => it.isFile() && it.name !== 'keys.json')
  const texts = files.map((it) => readFile(join(it.parentPath, it.name), 'latin1'))
  return (await Promise.all(texts)).join('\n')
}

const keysOf = ({ home }: Host) => readFile(join(home, 'keys.json'), 'utf8').catch(() => '')

/** Presses a button that opens a tab, and answers there. */
async function consent(page: Page, press: () => Promise<void>, answer: '#yes' | '#no') {
  const [tab] = await Promise.all([page.context().waitForEvent('page'), press()])
  await tab.locator(answer).click()
  await tab.waitForURL(/\/callback\?/)
  return tab
}

test('a server is authorised, loses that, is authorised again, and is forgotten', async () => {
  const { url, revoke } = await startOAuth('-consent')
  const host = (stage.host = await startHost({
    files: { '../.agent/settings.json': json({ mcpServers: { paint: { type: 'http', url } } }) },
  }))
  const { page, offences } = await openPage(stage.browser, host.url)
  const panel = await openPanelByKey(page, 'MCP servers')
  const press = async (name: string) => {
    await tabTo(panel.getByRole('button', { name, exact: true }))
    await page.keyboard.press('Enter')
  }
  await panel.getByText('needs your authorisation').waitFor()
  await shots(page, 'authorise-needed')
  expect(await violations(page)).toEqual([])

  // Refused: the panel says why, and no longer shows the address that the browser was sent to.
  const [first] = await Promise.all([page.context().waitForEvent('page'), press('Authorise…')])
  await first.locator('#no').waitFor()
  await page.bringToFront()
  await panel.getByText('Finish in the browser').waitFor()
  await panel.getByText(first.url(), { exact: true }).waitFor()
  await shots(page, 'authorise-waits')
  expect(await violations(page)).toEqual([])
  await first.locator('#no').click()
  await first.getByText('Atelier was not authorised.').waitFor()
  await page.bringToFront()
  await panel.getByText(/^paint was not authorised, because you or/).waitFor()
  await panel.getByText('Finish in the browser').waitFor({ state: 'detached' })
  await shots(page, 'authorise-refused')
  expect(await violations(page)).toEqual([])

  const tab = await consent(page, () => press('Authorise…'), '#yes')
  await tab.getByText('Atelier is authorised.').waitFor()
  await shots(tab, 'authorise-back')
  await page.bringToFront()
  await panel.getByText(/^connected ·/).waitFor()
  const tokens = [...(await keysOf(host)).matchAll(/(?:access|refresh)-[A-Z0-9]{20,}/g)].flat()
  expect(tokens).toHaveLength(2)
  await tabTo(panel.getByRole('button', { name: /^Show paint\b/ }))
  await page.keyboard.press('Enter')
  await panel.getByRole('button', { name: 'Forget the authorisation' }).waitFor()
  await shots(page, 'authorise-done')
  expect(await violations(page)).toEqual([])
  const seen = (await written(host)) + (await page.content())
  expect(tokens.filter((token) => seen.includes(token))).toEqual([])

  await revoke()
  await press('Connect again')
  const own = panel.getByRole('region', { name: 'paint' })
  await own.getByText('What you authorised for paint has ended or was revoked.').waitFor()
  await shots(page, 'authorise-ended')
  expect(await violations(page)).toEqual([])
  await consent(page, () => press('Authorise…'), '#yes')
  await page.bringToFront()
  await panel.getByText(/^connected ·/).waitFor()

  await press('Forget the authorisation')
  const dialog = page.getByRole('alertdialog').or(page.getByRole('dialog'))
  await dialog.getByText('The tokens for paint').waitFor()
  await shot(page, 'authorise-forget') // the dialog does not survive a narrower window
  await tabTo(dialog.getByRole('button', { name: 'Forget', exact: true }))
  await page.keyboard.press('Enter')
  await panel.getByText('needs your authorisation').waitFor()
  await expect.poll(() => keysOf(host)).not.toMatch(/access|refresh/)
  expect(offences).toEqual([])
})

test('a server of another program is imported with its secret, by keyboard only', async () => {
  const server = { command: process.execPath, args: [resolve('e2e/server.mjs')] }
  const secret = 'imported-secret-42'
  const host = (stage.host = await startHost({
    files: {
      '../.cursor/mcp.json': json({ mcpServers: { brush: { command: 'brush-of-cursor' } } }),
      '.vscode/mcp.json': `{
        // VS Code allows comments
        "inputs": [{ "type": "promptString", "id": "token", "description": "Token of the paint shop", "password": true }],
        "servers": { "paint": ${json({ ...server, env: { PAINT_TOKEN: '${input:token}' } })} }
      }`,
    },
  }))
  const { page, offences } = await openPage(stage.browser, host.url)
  const panel = await openPanelByKey(page, 'MCP servers')
  await tabTo(panel.getByRole('button', { name: 'Import…' }))
  await page.keyboard.press('Enter')
  await panel.getByText('brush-of-cursor').waitFor()
  await tabTo(panel.getByRole('checkbox', { name: 'Import paint' }))
  await page.keyboard.press('Space')
  const field = panel.getByLabel('Token of the paint shop')
  await tabTo(field)
  expect(await field.getAttribute('type')).toBe('password')
  await page.keyboard.type(secret)
  await shots(page, 'import-chosen')
  expect(await violations(page)).toEqual([])
  await tabTo(panel.getByRole('button', { name: 'Import 1 server' }))
  await page.keyboard.press('Enter')
  await panel.getByText('Imported 1 server.').waitFor()
  await panel.getByText(/^connected · 3 tools/).waitFor()
  expect(await panel.getByText('brush').count()).toBe(0)
  await shots(page, 'import-done')
  expect(await violations(page)).toEqual([])

  await tabTo(panel.getByRole('button', { name: 'Show paint' }))
  await page.keyboard.press('Enter')
  const pid = panel.getByText('Process', { exact: true }).locator('xpath=following-sibling::dd[1]')
  const environ = await readFile(`/proc/${await pid.innerText()}/environ`, 'utf8')
  expect(environ.split('\0')).toContain(`PAINT_TOKEN=${secret}`)
  await shots(page, 'import-shown')
  const settings = await readFile(join(host.folder, '../.agent/settings.json'), 'utf8')
  expect(settings).toContain('PAINT_TOKEN')
  expect(await keysOf(host)).toContain(secret)
  const seen = settings + (await written(host)) + (await page.content())
  expect(seen).not.toContain(secret)

  // It is there now, so it is not imported twice.
  await tabTo(panel.getByRole('button', { name: 'All servers' }))
  await page.keyboard.press('Enter')
  await tabTo(panel.getByRole('button', { name: 'Import…' }))
  await page.keyboard.press('Enter')
  await panel.getByText('a server with this name already exists').waitFor()
  expect(await panel.getByRole('checkbox', { name: 'Import paint' }).isDisabled()).toBe(true)
  await shots(page, 'import-again')
  expect(await violations(page)).toEqual([])
  expect(offences).toEqual([])
})
