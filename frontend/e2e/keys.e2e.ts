import { expect, test } from 'vitest'
import { openPage, shots } from './browser'
import { startHost } from './host'
import { startModel } from './model'
import { useStage } from './stage'

const stage = useStage()

test('a key is entered with the keyboard alone, tested at once, and its effects are reported', async () => {
  const model = (stage.model = await startModel([]))
  const host = (stage.host = await startHost({}))
  const { page, offences } = await openPage(stage.browser, host.url)
  await page.getByRole('button', { name: 'Model: Demo script' }).waitFor()
  await page.keyboard.press('Control+,')
  const settings = page.getByRole('dialog', { name: 'Settings' })
  const openai = settings.getByRole('listitem').filter({ hasText: 'OpenAI' }).first()
  const opener = openai.getByRole('button', { name: 'Set key' })
  await opener.focus()
  await page.keyboard.press('Enter')
  const isFocused = (name: RegExp) =>
    page.evaluate((text) => {
      const it = document.activeElement as HTMLElement | null
      const label = it instanceof HTMLInputElement ? it.labels?.[0]?.textContent : it?.textContent
      return new RegExp(text).test(label ?? '')
    }, name.source)
  await expect.poll(() => isFocused(/API key/)).toBe(true)
  expect(
    await openai.getByRole('link', { name: 'Get a key from OpenAI' }).getAttribute('href'),
  ).toBe('https://platform.openai.com/api-keys')
  await shots(page, 'keys-entry')
  await page.keyboard.press('Escape')
  await expect.poll(() => isFocused(/Set key/)).toBe(true)
  await settings.waitFor()

  await page.keyboard.press('Enter')
  await expect.poll(() => isFocused(/API key/)).toBe(true)
  await page.keyboard.type('sk-test-0123456789')
  await page.keyboard.press('Tab')
  await page.keyboard.type(model.url)
  await page.keyboard.press('Enter')
  await openai.getByText(/Answered in /).waitFor()
  await openai.getByText(`New sessions use `).waitFor()
  await expect.poll(() => isFocused(/Change/)).toBe(true)
  await shots(page, 'keys-saved')
  expect(offences).toEqual([])
})
