import { expect, test } from 'vitest'
import { violations } from './axe'
import { openPage, panelOf, prompt, shot } from './browser'
import { startHost } from './host'
import { startModel } from './model'
import { useStage } from './stage'

const stage = useStage()

// Whatever has a name is a few letters away.
test('the palette goes to a session, a panel, a file, a setting and a command by keyboard only', async () => {
  const model = (stage.model = await startModel([{ text: 'The form is done.' }, { text: 'Docs.' }]))
  const host = (stage.host = await startHost({
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  const { page, offences } = await openPage(stage.browser, host.url)
  await prompt(page, 'Build the login form')
  await page.getByText('The form is done.').waitFor()
  await page.keyboard.press('Alt+n')

  const field = page.getByRole('combobox', { name: 'Go to anything' })
  const pick = async (text: string) => {
    await page.keyboard.press('Control+k')
    await field.waitFor()
    await page.keyboard.type(text)
    await page.keyboard.press('Enter')
    await field.waitFor({ state: 'detached' })
  }
  await page.keyboard.press('Control+k')
  await page.getByRole('option', { name: /Build the login form/ }).waitFor()
  await shot(page, 'palette')
  expect(await violations(page)).toEqual([])
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.keyboard.type('pan')
  await shot(page, 'palette-dark')
  expect(await violations(page)).toEqual([])
  await page.emulateMedia({ colorScheme: 'light' })
  await page.keyboard.press('Escape')

  await pick('login form')
  await page.getByText('The form is done.').waitFor()
  await pick('hooks')
  await panelOf(page, 'Hooks').waitFor()
  await pick('terminal')
  await panelOf(page, 'Terminal').getByRole('tab').waitFor()
  await page.keyboard.press('F6')
  await pick('lm studio')
  await page.getByRole('dialog', { name: 'Settings' }).waitFor()
  // Nothing acts behind a dialog.
  await page.keyboard.press('Control+k')
  await page.keyboard.press('Alt+n')
  expect(await field.count()).toBe(0)
  await page.keyboard.press('Escape')
  await page.setViewportSize({ width: 900, height: 700 })
  await page.keyboard.press('Control+k')
  await page.keyboard.type('nothing of this name')
  await page.getByRole('option', { name: /^Search the texts of all sessions/ }).waitFor()
  await shot(page, 'palette-900')
  await page.keyboard.press('Escape')
  expect(offences).toEqual([])
})
