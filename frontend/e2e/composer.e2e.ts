import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { violations } from './axe'
import { openPage, prompt, shot, untilRest } from './browser'
import { startHost } from './host'
import { startModel } from './model'
import { useStage } from './stage'

const stage = useStage()

// OC-05: what was sent is found again by keys alone, in the field and over all sessions.
test('Up and Ctrl+R bring back what was sent, by keyboard only', async () => {
  const model = (stage.model = await startModel([{ text: 'Done.' }, { text: 'Also done.' }]))
  const host = (stage.host = await startHost({
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  const { page, offences } = await openPage(stage.browser, host.url)
  await prompt(page, 'Build the login form')
  await page.getByText('Done.', { exact: true }).waitFor()
  await untilRest(page)
  await page.keyboard.press('Alt+n')
  await prompt(page, 'Write the tests of the login')
  await page.getByText('Also done.').waitFor()
  await untilRest(page)

  const field = page.getByRole('textbox', { name: 'Message' })
  await page.keyboard.press('Alt+m')
  await page.keyboard.press('ArrowUp')
  await expect.poll(() => field.inputValue()).toBe('Write the tests of the login')
  await page.keyboard.press('ArrowUp')
  await expect.poll(() => field.inputValue()).toBe('Build the login form')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await expect.poll(() => field.inputValue()).toBe('')

  await page.keyboard.press('Control+r')
  const search = page.getByRole('combobox', { name: 'Search what you sent' })
  await search.waitFor()
  await page.getByRole('option', { name: /Write the tests/ }).waitFor()
  await shot(page, 'history')
  expect(await violations(page)).toEqual([])
  await page.keyboard.type('form')
  await page.getByText('1 message.', { exact: false }).waitFor()
  await page.emulateMedia({ colorScheme: 'dark' })
  await shot(page, 'history-dark')
  expect(await violations(page)).toEqual([])
  // Nothing acts behind the dialog.
  await page.keyboard.press('Alt+n')
  await page.keyboard.press('Enter')
  await search.waitFor({ state: 'detached' })
  await expect.poll(() => field.inputValue()).toBe('Build the login form')

  await page.keyboard.press('Alt+e')
  await page.keyboard.press('End')
  await page.keyboard.press('Enter')
  await page.keyboard.type('with a test')
  expect(await field.inputValue()).toBe('Build the login form\nwith a test')
  await shot(page, 'large-editor-dark')
  await page.emulateMedia({ colorScheme: 'light' })
  await shot(page, 'large-editor')
  expect(offences).toEqual([])
})

// OC-05: what is remembered is shown before it is written, and is in the file that sessions read.
test('a note goes into the file of instructions, by keyboard only', async () => {
  const model = (stage.model = await startModel([]))
  const host = (stage.host = await startHost({
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  const { page, offences } = await openPage(stage.browser, host.url)
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  await page.keyboard.press('Alt+m')
  await page.keyboard.type('# Indent with tabs')
  await page.getByRole('option', { name: /Remember for this project/ }).waitFor()
  await shot(page, 'remember-menu')
  expect(await violations(page)).toEqual([])
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Remember' })
  await dialog.getByText('- Indent with tabs').waitFor()
  await shot(page, 'remember')
  expect(await violations(page)).toEqual([])
  await page.keyboard.press('Control+Enter')
  await dialog.getByText(/^Added to /).waitFor()
  await page.emulateMedia({ colorScheme: 'dark' })
  await shot(page, 'remember-dark')
  expect(await violations(page)).toEqual([])
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  expect(await readFile(`${host.folder}/AGENTS.md`, 'utf8')).toBe('- Indent with tabs\n')
  expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('')
  expect(offences).toEqual([])
})

// OC-05: keys are the user's, in a file and on a page, with conflicts shown.
test('keys are changed on their page, and a sheet shows them', async () => {
  const host = (stage.host = await startHost({}))
  const { page, offences } = await openPage(stage.browser, host.url)
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  await page.keyboard.press('F6')
  await page.keyboard.press('?')
  const sheet = page.getByRole('dialog', { name: 'Shortcuts' })
  await sheet.getByText('Search your earlier messages').waitFor()
  await shot(page, 'key-sheet')
  expect(await violations(page)).toEqual([])
  await page.emulateMedia({ colorScheme: 'dark' })
  await shot(page, 'key-sheet-dark')
  await page.emulateMedia({ colorScheme: 'light' })
  await sheet.getByRole('button', { name: 'Change keys…' }).press('Enter')

  const settings = page.getByRole('dialog', { name: 'Settings' })
  await settings.getByRole('button', { name: 'Add keys: New session' }).press('Enter')
  await page.keyboard.press('Control+k')
  await settings.getByText('Two commands share keys.', { exact: false }).waitFor()
  await settings
    .getByRole('button', { name: 'Remove Ctrl+K: New session' })
    .scrollIntoViewIfNeeded()
  await shot(page, 'keys-conflict')
  expect(await violations(page)).toEqual([])
  await settings.getByRole('button', { name: 'Remove Ctrl+K: New session' }).press('Enter')
  await settings.getByRole('button', { name: 'Add keys: New session' }).press('Enter')
  await page.keyboard.press('Tab') // Tab is not taken, or nobody could leave
  await settings.getByRole('button', { name: 'Add keys: Show or hide sessions' }).press('Enter')
  await page.keyboard.press('Control+Alt+b')
  await settings.getByText('Ctrl+Alt+B').waitFor()
  expect(JSON.parse(await readFile(`${host.home}/keys.json`, 'utf8'))).toMatchObject({
    keys: { sidebar: ['Ctrl+B', 'Ctrl+Alt+B'] },
  })
  await page.keyboard.press('Escape')
  await settings.waitFor({ state: 'detached' })
  const sessions = page.getByRole('navigation', { name: 'Sessions' })
  await page.keyboard.press('Control+Alt+b')
  await sessions.waitFor({ state: 'detached' })
  expect(offences).toEqual([])
})
