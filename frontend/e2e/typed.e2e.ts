import { expect, test } from 'vitest'
import { openPage, prompt, shots, untilFocused, untilRest } from './browser'
import { startHost } from './host'
import { startModel } from './model'
import { useStage } from './stage'

const stage = useStage()

test('what is typed does what is meant: filter, search, commands and what looks like one', async () => {
  const model = (stage.model = await startModel([
    { text: 'Removed.' },
    { text: 'Looked.' },
    { text: 'As text.' },
  ]))
  const host = (stage.host = await startHost({
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  const { page, offences } = await openPage(stage.browser, host.url)
  await prompt(page, 'run rm -rf build')
  await page.getByText('Removed.').waitFor()
  await untilRest(page)
  await page.keyboard.press('Alt+n')
  await prompt(page, 'look at rm once')
  await page.getByText('Looked.').waitFor()
  await untilRest(page)

  // Ctrl+K, a part of a title, Enter.
  await page.keyboard.press('Alt+s')
  await page.keyboard.type('-rf')
  await page.keyboard.press('Enter')
  await page.getByText('Removed.').waitFor()
  await page.keyboard.press('Alt+s')
  await page.keyboard.press('Control+a')
  await page.keyboard.type('rm')
  await page.keyboard.press('ArrowDown')
  await untilFocused(page.locator('[data-session]').first())
  await page.keyboard.press('ArrowUp')
  await untilFocused(page.getByRole('searchbox', { name: 'Filter sessions' }))
  await page.keyboard.press('Control+a')
  await page.keyboard.press('Delete')

  // An option is found as it stands; a word that is excluded is said, and found with one press.
  await page.keyboard.press('Control+Shift+F')
  const dialog = page.getByRole('dialog', { name: 'Search all sessions' })
  await dialog.getByRole('combobox').fill('rm -rf')
  await dialog
    .getByRole('option', { name: /run rm -rf build/ })
    .first()
    .waitFor()
  await dialog.getByRole('combobox').fill('rm -once')
  await dialog.getByText('Texts with “once” are left out.').waitFor()
  await shots(page, 'typed-excluded')
  await dialog.getByRole('button', { name: 'Find “-once” instead' }).click()
  await expect.poll(() => dialog.getByRole('combobox').inputValue()).toBe('rm "-once"')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })

  // A command that does not exist stays in the field, and a space sends it as text.
  const field = page.locator('[data-composer]')
  await field.fill('/compct the tests')
  await field.press('Enter')
  await page.getByText('There is no command /compct. Did you mean /compact?').waitFor()
  await shots(page, 'typed-unknown')
  expect(await field.inputValue()).toBe('/compct the tests')
  await field.fill(' /compct the tests')
  await field.press('Enter')
  await page.getByText('As text.').waitFor()
  await untilRest(page)
  await field.fill('/compact')
  await field.press('Enter')
  await page.getByRole('dialog').getByText('Compact the conversation').first().waitFor()
  await page.keyboard.press('Escape')
  await field.fill('/export')
  await field.press('Enter')
  await page.getByRole('dialog').waitFor()
  expect(offences).toEqual([])
})
