import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { violations } from './axe'
import { openPage, prompt, shots, untilRest } from './browser'
import { startHost } from './host'
import { startModel } from './model'
import { useStage } from './stage'

const stage = useStage()
const secret = 'ghp_aB3dE5gH7jK9mN1pQ3sTaB3dE5gH7jK9'

// LIVE-01, LIVE-03, LIVE-04, LIVE-05, LIVE-06, OC-03: a session is shared by a link, watched as
// it happens, without its secrets, in light and dark and on a phone, until it is revoked.
test('a session is watched in another browser until its share is ended', async () => {
  const model = (stage.model = await startModel([
    { text: `The **Rhine**, with ${secret}.` },
    { text: 'The Danube.' },
    { text: 'Nobody watches this.' },
  ]))
  const host = (stage.host = await startHost({
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  const { page, offences } = await openPage(stage.browser, host.url)
  await prompt(page, 'Name a river.')
  await page.getByText('Rhine').waitFor()
  await untilRest(page)

  await page.getByRole('button', { name: 'Menu of the open session' }).click()
  await page.getByRole('menuitem', { name: 'Share live…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Share the session live' })
  await dialog.getByText('ghp_••').first().waitFor()
  expect(await violations(page)).toEqual([])
  await shots(page, 'share')
  await dialog.getByLabel('Password').fill('Loreley')
  await dialog.getByRole('button', { name: 'Share', exact: true }).click()
  const link = await dialog.getByRole('textbox', { name: 'Link' }).inputValue()
  expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#[\w-]{43}$/)
  await shots(page, 'share-link')

  const context = await stage.browser.newContext({ viewport: { width: 390, height: 800 } })
  const viewer = await context.newPage()
  const asked: string[] = []
  viewer.on('request', (request) => asked.push(new URL(request.url()).origin))
  await viewer.goto(link)
  await viewer.getByLabel('This session is shared with a password.').fill('wrong')
  await viewer.getByRole('button', { name: 'Watch' }).click()
  await viewer.getByText('That is not the password.').waitFor()
  expect(await violations(viewer)).toEqual([])
  await viewer.getByLabel('This session is shared with a password.').fill('Loreley')
  await viewer.getByRole('button', { name: 'Watch' }).click()
  await viewer.getByText('Rhine').waitFor()
  expect(await viewer.content()).not.toContain(secret)
  expect(await viewer.content()).toContain('[redacted]')
  await dialog.getByText('Viewers: 1').waitFor()
  await dialog.getByRole('button', { name: 'Close' }).last().click()

  const seen = (text: string) => (place: typeof page) =>
    place
      .getByText(text)
      .first()
      .waitFor()
      .then(() => Date.now())
  const both = Promise.all([page, viewer].map(seen('The Danube.')))
  await prompt(page, 'Another one?')
  const [here, there] = await both
  expect(there! - here!).toBeLessThan(300)
  await viewer.getByText('At rest').waitFor()
  expect(await violations(viewer)).toEqual([])
  await shots(viewer, 'share-viewer')
  expect([...new Set(asked)]).toEqual([new URL(link).origin])

  await untilRest(page)
  await page.getByRole('button', { name: 'Menu of the open session' }).click()
  await page.getByRole('menuitem', { name: 'Share live…' }).click()
  await dialog.getByRole('button', { name: /^End the share of/ }).click()
  await viewer.getByText('The share was ended by its owner.').waitFor()
  await dialog.getByText('ended by you').waitFor()
  await dialog.getByRole('button', { name: 'Close' }).first().click()
  await prompt(page, 'And a third?')
  await page.getByText('Nobody watches this.').waitFor()
  await untilRest(page)
  expect(await viewer.content()).not.toContain('And a third?')
  expect(await viewer.content()).not.toContain('Nobody watches this.')
  await expect(fetch(link)).rejects.toThrow()
  await context.close()
  expect(offences).toEqual([])
})

// LIVE-05, LIVE-06, LIVE-08: a recording is one encrypted file that opens without a network, with
// the reader of live shares, and only with its key; its secrets are not in it.
test('a session is recorded in one file, which its key opens offline', async () => {
  const model = (stage.model = await startModel([{ text: `The **Rhine**, with ${secret}.` }]))
  const host = (stage.host = await startHost({
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  const { page, offences } = await openPage(stage.browser, host.url)
  await prompt(page, 'Name a river.')
  await page.getByText('Rhine').waitFor()
  await untilRest(page)
  await page.getByRole('button', { name: 'Menu of the open session' }).click()
  await page.getByRole('menuitem', { name: 'Share live…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Share the session live' })
  await dialog.getByText('ghp_••').first().waitFor()
  await dialog.getByText('A recording', { exact: true }).click()
  await dialog.getByText('One encrypted file').waitFor()
  expect(await violations(page)).toEqual([])
  await shots(page, 'recording')
  const saved = page.waitForEvent('download')
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  const download = await saved
  const [name, key] = (await dialog.getByRole('textbox', { name: 'Link' }).inputValue()).split('#')
  expect(key).toMatch(/^[\w-]{43}$/)
  expect(name).toMatch(/\.html$/)
  expect(name).toBe(download.suggestedFilename())
  const file = join(await mkdtemp(join(tmpdir(), 'atelier-recording-')), name!)
  await download.saveAs(file)
  expect(await readFile(file, 'utf8')).not.toMatch(/Rhine|river/)

  const context = await stage.browser.newContext({ viewport: { width: 390, height: 800 } })
  await context.setOffline(true)
  const viewer = await context.newPage()
  const wrong: string[] = []
  viewer.on('console', (said) => said.type() === 'error' && wrong.push(said.text()))
  viewer.on('request', (request) => request.url().startsWith('file:') || wrong.push(request.url()))
  await viewer.goto(`${pathToFileURL(file)}#${key}`)
  await viewer.locator('strong', { hasText: 'Rhine' }).waitFor()
  expect(await viewer.content()).not.toContain(secret)
  expect(await viewer.content()).toContain('[redacted]')
  expect(await violations(viewer)).toEqual([])
  await shots(viewer, 'recording-viewer')
  const other = await context.newPage()
  await other.goto(String(pathToFileURL(file)))
  await other.getByLabel('This recording is encrypted.').fill('A'.repeat(43))
  await other.getByRole('button', { name: 'Open' }).click()
  await other.getByText('That is not the key of this recording.').waitFor()
  expect(await violations(other)).toEqual([])
  expect(await other.content()).not.toContain('Rhine')
  await other.getByLabel('This recording is encrypted.').fill(key!)
  await other.getByRole('button', { name: 'Open' }).click()
  await other.locator('strong', { hasText: 'Rhine' }).waitFor()
  expect(wrong).toEqual([])
  await context.close()
  expect(offences).toEqual([])
})
