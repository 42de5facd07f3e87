import { expect, test } from 'vitest'
import { openPage, shots } from './browser'
import { startHost } from './host'
import { startModel } from './model'
import { useStage } from './stage'

const stage = useStage()

test('an endpoint is added, refused where its address is none, tried and removed once that is confirmed', async () => {
  const model = (stage.model = await startModel([]))
  const host = (stage.host = await startHost({}))
  const { page, offences } = await openPage(stage.browser, host.url)
  await page.getByRole('button', { name: 'Model: Demo script' }).waitFor()
  await page.keyboard.press('Control+,')
  const settings = page.getByRole('dialog', { name: 'Settings' })
  const panel = settings.getByRole('region', { name: 'Your endpoints' })
  const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim())

  await panel.getByRole('button', { name: 'Add endpoint' }).press('Enter')
  await page.keyboard.type('House')
  await panel.getByLabel('Base URL').fill('ftp://house/v1')
  await page.keyboard.press('Enter')
  await panel.getByRole('alert').waitFor()
  await shots(page, 'endpoint-refused')
  await panel.getByLabel('Base URL').fill(model.url)
  await page.keyboard.press('Enter')
  const house = panel.getByRole('listitem').filter({ hasText: 'House' })
  await house.getByRole('button', { name: 'Change' }).waitFor()
  await expect.poll(focused).toBe('Add endpoint')
  await house.getByRole('button', { name: 'Test connection' }).click()
  await house.getByText(/Answered in /).waitFor()

  await house.getByRole('button', { name: 'Remove' }).press('Enter')
  const question = page.getByRole('dialog', { name: 'Remove House?' })
  await shots(page, 'endpoint-remove')
  await question.getByRole('button', { name: 'Cancel' }).press('Enter')
  await expect.poll(focused).toBe('Remove')
  await page.keyboard.press('Enter')
  await question.getByRole('button', { name: 'Remove endpoint' }).press('Enter')
  await house.waitFor({ state: 'detached' })
  await expect.poll(focused).toBe('Add endpoint')
  expect(offences).toEqual([])
})
