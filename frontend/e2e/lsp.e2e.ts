import { expect, test } from 'vitest'
import { violations } from './axe'
import { openPage, prompt, shots, tabTo } from './browser'
import { startHost } from './host'
import { modelID, startModel } from './model'
import { useStage } from './stage'

const stage = useStage()

test('a question about code is answered in a card, and language servers are switched off by keyboard', async () => {
  const model = (stage.model = await startModel([
    {
      calls: [
        {
          name: 'LSP',
          input: { operation: 'findReferences', file_path: 'shop.lua', line: 2, query: 'price' },
        },
      ],
    },
    { text: 'It is used twice.' },
  ]))
  const host = (stage.host = await startHost({
    files: { 'shop.lua': 'local function price()\nend\nprint(price())\n' },
    models: [{ id: modelID, provider: 'compat', display_name: 'Scripted' }],
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  const { page, offences } = await openPage(stage.browser, host.url)
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  await page.keyboard.press('Control+,')
  const settings = page.getByRole('dialog', { name: 'Settings' })
  await tabTo(settings.getByRole('combobox', { name: 'Search the settings' }))
  await page.keyboard.type('gopls')
  await settings.getByRole('option').first().waitFor()
  await page.keyboard.press('Enter')
  const toggle = settings.getByRole('switch', { name: 'Use language servers' })
  await tabTo(toggle)
  await page.keyboard.press('Space')
  await expect.poll(() => toggle.isChecked()).toBe(false)
  await shots(page, 'lsp-settings')
  expect(await violations(page)).toEqual([])
  await page.keyboard.press('Escape')
  await settings.waitFor({ state: 'detached' })

  await prompt(page, 'Who uses it?')
  await page.getByText('It is used twice.').waitFor()
  const card = page.getByRole('button', { name: /LSP/ }).first()
  await card.click()
  await page.getByText('language servers are switched off').waitFor()
  await page.getByText('shop.lua:3:print(price())').waitFor()
  await shots(page, 'lsp-card')
  expect(await violations(page)).toEqual([])
  expect(offences).toEqual([])
})
