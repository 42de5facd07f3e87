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
