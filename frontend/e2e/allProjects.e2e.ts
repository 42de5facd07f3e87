import { expect, test } from 'vitest'
import { violations } from './axe'
import { openPage, prompt, shots, untilRest } from './browser'
import { startHost } from './host'
import { startModel } from './model'
import { useStage } from './stage'

const stage = useStage()

// Issue 36: what works in any project is on one page, and is stopped there.
test('/projects shows what works everywhere, and stops it', async () => {
  const model = (stage.model = await startModel([
    { reasoning: 'Let me see', rest: new Promise(() => {}), text: 'Never.' },
  ]))
  const host = (stage.host = await startHost({
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  const { page, offences } = await openPage(stage.browser, host.url)
  await prompt(page, 'Work for long')
  await expect.poll(() => model.heard.length).toBe(1)
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill('/projects')
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'All projects' })
  const working = dialog.getByRole('region', { name: 'Working' })
  await working.getByText('Work for long').waitFor()
  expect(await violations(page)).toEqual([])
  await shots(page, 'all-projects')
  await working.getByRole('button', { name: 'Stop Work for long' }).click()
  await working.waitFor({ state: 'detached' })
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await untilRest(page)
  expect(offences).toEqual([])
})

// Issue 36: the stop reaches another program that has its own folder open.
test('/projects stops a session of another program', async () => {
  const model = (stage.model = await startModel([
    { reasoning: 'Let me see', rest: new Promise(() => {}), text: 'Never.' },
  ]))
  const env = { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' }
  const host = (stage.host = await startHost({ env }))
  const other = await startHost({ env, beside: host })
  try {
    const there = await openPage(stage.browser, other.url)
    await prompt(there.page, 'Work for long')
    await expect.poll(() => model.heard.length).toBe(1)
    const here = await openPage(stage.browser, host.url)
    await here.page.getByRole('textbox', { name: 'Message', exact: true }).fill('/projects')
    await here.page.keyboard.press('Enter')
    const dialog = here.page.getByRole('dialog', { name: 'All projects' })
    const working = dialog.getByRole('region', { name: 'Working' })
    await working.getByText('Work for long').waitFor()
    await working.getByText('till').first().waitFor()
    await working.getByRole('button', { name: 'Stop Work for long' }).click()
    await working.waitFor({ state: 'detached' })
    await untilRest(there.page)
    expect([...there.offences, ...here.offences]).toEqual([])
  } finally {
    await other.stop()
  }
})
