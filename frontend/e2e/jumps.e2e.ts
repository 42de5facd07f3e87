import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { violations } from './axe'
import { openPage, prompt, shot, shots, untilFocused, untilRest } from './browser'
import { startHost } from './host'
import { startModel } from './model'
import { useStage } from './stage'

const stage = useStage()

const filler = (n: number) =>
  Array.from({ length: 30 }, (_, k) => `Filler ${n}.${k} of the story.`).join('\n\n')

/** Whether a text is in view in the conversation. */
const isInView = (page: Page, text: string) =>
  page.evaluate((text) => {
    const list = document.querySelector('[role=log]')!
    const view = list.getBoundingClientRect()
    return [...list.querySelectorAll('[data-entry]')].some((row) => {
      const { top, bottom } = row.getBoundingClientRect()
      return row.textContent?.includes(text) && bottom > view.top && top < view.bottom
    })
  }, text)

/** Makes the log longer by giving the session one title after another. */
const rename = (page: Page) =>
  page.evaluate(async (titles) => {
    const session = document.querySelector<HTMLElement>('[data-session]')!.dataset.session
    const socket = new WebSocket('/ws')
    await new Promise((resolve) => (socket.onopen = resolve))
    socket.send(JSON.stringify({ secret: localStorage.getItem('atelier.secret') }))
    let answers = 0
    const done = new Promise((resolve) => {
      socket.onmessage = ({ data }) =>
        'id' in JSON.parse(data) && ++answers === titles && resolve(0)
    })
    for (let id = 1; id <= titles; id++) {
      const args = { session, title: `Title ${id}` }
      socket.send(JSON.stringify({ id, method: 'sessions.rename', args }))
    }
    await done
    socket.close()
  }, titles)

const chapters = 24
/** More events than a jump reads together with what is between them. */
const titles = 1300

/** A story with so many chapters that its beginning is not loaded when it is opened, with an error near the beginning. */
async function stageStory() {
  const model = (stage.model = await startModel([
    ...Array.from({ length: chapters + 1 }, (_, n) => ({ text: filler(n) })),
  ]))
  const host = (stage.host = await startHost({
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  const opened = await openPage(stage.browser, host.url)
  const { page } = opened
  for (let n = 0; n < chapters; n++) {
    await prompt(page, `Chapter ${n}`)
    await page.getByText(`Filler ${n}.29 of`).waitFor()
    await untilRest(page)
    if (n === 16) await rename(page)
    if (n !== 6) continue
    await prompt(page, '!echo the thread is lost; exit 3')
    await page.getByText('exit 3', { exact: true }).waitFor()
    await untilRest(page)
  }
  await page.reload()
  await page.getByText(`Filler ${chapters - 1}.29 of`).waitFor()
  return opened
}

test('the keyboard goes to the start, from prompt to prompt, to an error and back to the newest message', async () => {
  const { page, offences } = await stageStory()
  const { keyboard } = page
  const latest = page.getByRole('button', { name: 'Jump to latest' })
  const sees = (text: string) => expect.poll(() => isInView(page, text)).toBe(true)
  /** Presses a key and waits for what it comes to, which is told for a moment only. */
  const press = (key: string, told: string) =>
    Promise.all([page.getByRole('status').filter({ hasText: told }).waitFor(), keyboard.press(key)])

  await keyboard.press('Alt+Home')
  await sees('Chapter 0')
  await latest.waitFor()
  await shot(page, 'jumps-start')
  await press('Alt+PageUp', 'You sent no earlier message.')
  await shots(page, 'jumps-none')

  // Two presses at once are two jumps.
  await press('Alt+PageDown', 'Your message: Chapter 1')
  await keyboard.press('Alt+PageDown')
  await press('Alt+PageDown', 'Your message: Chapter 3')
  await sees('Chapter 3')
  await press('Alt+PageUp', 'Your message: Chapter 2')

  await press('F8', 'Error: echo the thread is lost')
  await sees('the thread is lost')
  await shots(page, 'jumps-error')
  await press('F8', 'There is no later error.')
  await press('Shift+F8', 'There is no earlier error.')

  // Events that arrive meanwhile are not lost, and a message is sent to the end.
  await keyboard.press('Alt+End')
  await sees(`Filler ${chapters - 1}.29`)
  await latest.waitFor({ state: 'hidden' })
  await press('Alt+PageUp', `Your message: Chapter ${chapters - 1}`)
  await keyboard.press('Alt+Home')
  await sees('Chapter 0')
  await keyboard.type('One more')
  await keyboard.press('Enter')
  await sees(`Filler ${chapters}.29`)

  // The same from the menu.
  const menu = page.getByRole('button', { name: 'Go to…' })
  await menu.focus()
  await keyboard.press('Enter')
  await untilFocused(page.getByRole('menuitem', { name: 'Start of the conversation' }))
  expect(await violations(page)).toEqual([])
  await shots(page, 'jumps-menu')
  await keyboard.press('ArrowDown')
  await press('Enter', 'Your message: ')
  await keyboard.press('Control+/')
  await page.getByText('Go to your previous or next message').waitFor()
  expect(offences).toEqual([])
})

test('the conversation is read on from its start to the newest message, and searched meanwhile', async () => {
  const { page, offences } = await stageStory()
  await page.getByRole('log').locator('> div').focus()
  await page.keyboard.press('Alt+Home')
  await expect.poll(() => isInView(page, 'Chapter 0')).toBe(true)
  // The list is another one, but the focus is still in it.
  await expect
    .poll(() => page.evaluate(() => !!document.activeElement?.closest('[role=log]')))
    .toBe(true)
  await page.keyboard.press('Control+f')
  await untilFocused(page.getByRole('search').locator('input'))
  await page.keyboard.type('Filler 22.3 of')
  await expect.poll(() => isInView(page, 'Filler 22.3 of')).toBe(true)
  await page.keyboard.press('Control+a')
  await page.keyboard.type('Filler 1.3 of')
  await expect.poll(() => isInView(page, 'Filler 1.3 of')).toBe(true)
  await expect.poll(() => page.evaluate(() => CSS.highlights.get('find-current')?.size)).toBe(1)
  await page.keyboard.press('Escape')
  await page.getByRole('log').locator('> div').focus()
  const latest = page.getByRole('button', { name: 'Jump to latest' })
  await expect
    .poll(async () => {
      await page.keyboard.press('End')
      return (await isInView(page, `Filler ${chapters - 1}.29`)) && (await latest.count()) === 0
    })
    .toBe(true)
  expect(offences).toEqual([])
})
