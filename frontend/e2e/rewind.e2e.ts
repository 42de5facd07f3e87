import { expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { violations } from './axe'
import { openPage, prompt, shots, tabTo, untilFocused } from './browser'
import { startHost } from './host'
import { modelID, startModel } from './model'
import { useStage } from './stage'

const stage = useStage()

const field = (page: Page) => page.getByRole('textbox', { name: 'Message' })
const focused = (page: Page) =>
  expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? ''))
const line = (page: Page) => page.getByText('1 turn was rewound.')

// OC-09
test('turns are rewound and brought back, by keyboard only', async () => {
  const requests: string[] = []
  const answering = (text: string) => (conversation: string) => {
    requests.push(conversation)
    return { text }
  }
  const model = (stage.model = await startModel(
    ['Walnut it is.', 'Almond it is.', 'Hazel it is.'].map(answering),
  ))
  const host = (stage.host = await startHost({
    models: [{ id: modelID, provider: 'compat', display_name: 'Scripted' }],
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
    files: { 'main.go': 'package main\n' },
  }))
  const { page, offences } = await openPage(stage.browser, host.url)
  const { keyboard } = page
  for (const name of ['Walnut', 'Almond']) {
    await prompt(page, `Say ${name.toLowerCase()}`)
    await page.getByText(`${name} it is.`).waitFor()
    await page.getByRole('button', { name: 'Send' }).waitFor()
  }

  // The prompt comes back into the message field, and its turn becomes one line.
  await field(page).focus()
  await keyboard.type('/rewind')
  await keyboard.press('Enter')
  const dialog = page.getByRole('dialog')
  const back = dialog.getByRole('button', { name: 'Rewind' })
  await expect.poll(() => back.isEnabled()).toBe(true)
  await shots(page, 'rewind-dialog')
  await tabTo(back)
  await keyboard.press('Enter')
  await line(page).waitFor()
  await dialog.waitFor({ state: 'detached' })
  await focused(page).toBe('Message')
  await expect.poll(() => field(page).inputValue()).toBe('Say almond')
  await page.getByText('Almond it is.').waitFor({ state: 'detached' })
  await shots(page, 'rewind-taken')
  await keyboard.press('Control+f')
  const bar = page.getByRole('search')
  await untilFocused(bar.getByRole('textbox').or(bar.getByRole('searchbox')))
  await keyboard.type('almond it')
  await expect.poll(() => bar.getByRole('status').innerText()).toBe('Not found · 1 rewound')
  await shots(page, 'rewind-find')
  await keyboard.press('Escape')
  expect(await violations(page)).toEqual([])

  // A page that is opened later shows the same, and can show what was taken back.
  await page.reload()
  await line(page).waitFor()
  await page.getByText('Almond it is.').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Show', exact: true }).press('Enter')
  await page.getByText('Almond it is.').waitFor()
  await shots(page, 'rewind-shown')
  await page.getByRole('button', { name: 'Hide', exact: true }).press('Enter')
  await expect.poll(() => page.getByText('Almond it is.').count()).toBe(0)

  await page.getByRole('button', { name: 'Bring back' }).press('Enter')
  await page.getByText('Almond it is.').waitFor()
  await expect.poll(() => line(page).count()).toBe(0)

  // From a message on, while another page watches.
  await focused(page).toBe('Message')
  const other = await page.context().newPage()
  await other.goto(page.url())
  await other.getByText('Almond it is.').waitFor()
  await field(page).fill('')
  const label = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))
  let here = await label()
  for (let key = 'Alt+ArrowUp'; here !== 'Your message: Say almond'; key = 'ArrowUp') {
    await keyboard.press(key)
    await expect.poll(label).not.toBe(here)
    here = await label()
  }
  await keyboard.press('b')
  await expect.poll(() => back.isEnabled()).toBe(true)
  await back.press('Enter')
  await line(other).waitFor()
  await expect.poll(() => other.getByText('Almond it is.').count()).toBe(0)

  // The changed message is sent, and the model hears nothing of what was taken back.
  await expect.poll(() => field(page).inputValue()).toBe('Say almond')
  await focused(page).toBe('Message')
  await keyboard.press('Control+a')
  await keyboard.type('Say hazel')
  await keyboard.press('Enter')
  await page.getByText('Hazel it is.').waitFor()
  expect(requests.at(-1)).toContain('Walnut it is.')
  expect(requests.at(-1)).not.toMatch(/almond/i)
  await expect.poll(() => page.getByRole('button', { name: 'Bring back' }).count()).toBe(0)
  await line(page).waitFor()
  expect(offences).toEqual([])
})
