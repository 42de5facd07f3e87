import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { violations } from './axe'
import { openPage, panelOf, prompt, shot } from './browser'
import { startHost } from './host'
import { startModel } from './model'
import { useStage } from './stage'

const stage = useStage()

const answer = 'Run this:\n\n```sh\necho from-$((40+2))\n```\n'

async function start() {
  const model = (stage.model = await startModel([{ text: answer }]))
  const host = (stage.host = await startHost({
    env: {
      COMPAT_BASE_URL: model.url,
      COMPAT_API_KEY: 'test-key',
      SHELL: '/bin/bash',
      PS1: 'here> ',
    },
  }))
  const opened = await openPage(stage.browser, host.url)
  await opened.page.getByRole('textbox', { name: 'Message' }).waitFor()
  return opened
}

/** What the terminal shows. */
const screen = (page: Page) => page.locator('.screen:not([hidden]) .xterm-rows')
const shows = (page: Page, text: string | RegExp) =>
  screen(page).filter({ hasText: text }).waitFor({ timeout: 20_000 })

// OC-05: the user's own shell beside the conversation, by keyboard only.
test('a terminal is opened, typed into, searched, quoted, reloaded and closed by keyboard', async () => {
  const { page, offences } = await start()
  await page.keyboard.press('Control+`')
  const panel = panelOf(page, 'Terminal')
  await panel.getByRole('tab').waitFor()
  await shows(page, /\$|#|>/)
  await page.keyboard.type(
    'printf "\\033[31mred\\033[0m \\033[38;2;10;120;200mtrue\\033[0m\\n"; pwd; echo e""nd\n',
  )
  await shows(page, 'end')
  await shot(page, 'terminal')
  expect(await violations(page)).toEqual([])
  await page.emulateMedia({ colorScheme: 'dark' })
  await shot(page, 'terminal-dark')
  expect(await violations(page)).toEqual([])
  await page.emulateMedia({ colorScheme: 'light' })

  // Colours come through although the page's policy refuses inline styles.
  const colour = await screen(page)
    .locator('span', { hasText: /^true/ })
    .first()
    .evaluate((it) => getComputedStyle(it).color)
  expect(colour).not.toBe(await screen(page).evaluate((it) => getComputedStyle(it).color))

  await page.keyboard.press('Control+Shift+F')
  await page.keyboard.type('red')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+Shift+Enter')
  const field = page.getByRole('textbox', { name: 'Message' })
  await expect.poll(() => field.inputValue()).toBe('```console\nred\n```\n')
  await field.fill('')

  await page.reload()
  await shows(page, 'end')
  await page.setViewportSize({ width: 900, height: 700 })
  await page.keyboard.press('Control+`')
  await shows(page, 'end')
  await shot(page, 'terminal-900')
  await page.keyboard.type('exit 3\n')
  await shows(page, 'The shell ended with exit code 3.')
  await page.keyboard.press('Control+Shift+W')
  await panel.getByText('Your own shell, in the folder of this session.').waitFor()
  expect(await violations(page)).toEqual([])
  expect(offences).toEqual([])
})

// OC-05: code of an answer waits in the terminal for the user's Enter.
test('a command of an answer is put into the terminal and not run', async () => {
  const { page, offences } = await start()
  await prompt(page, 'How?')
  await page.getByRole('button', { name: 'Put it into your terminal' }).press('Enter')
  await shows(page, 'echo from-$((40+2))')
  expect(await screen(page).innerText()).not.toContain('from-42')
  await page.keyboard.press('Enter')
  await shows(page, 'from-42')
  expect(offences).toEqual([])
})

// OC-05: a flood is drawn to its end while the page stays responsive.
test('a flood of 15 MB leaves the page responsive', async () => {
  const { page, offences } = await start()
  await page.keyboard.press('Control+`')
  await shows(page, /\$|#|>/)
  await page.keyboard.type('seq 2000000; echo flood-e""nd\n')
  await shows(page, /\d{4}/)
  const slowest = await page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const gaps: number[] = []
        let last = performance.now()
        const step = (now: number) => {
          gaps.push(now - last)
          last = now
          if (gaps.length < 120) requestAnimationFrame(step)
          else resolve(gaps.toSorted((a, b) => b - a)[Math.floor(gaps.length * 0.05)]!)
        }
        requestAnimationFrame(step)
      }),
  )
  console.log(`a frame takes ${Math.round(slowest)} ms at most, in 95 of 100`)
  const began = Date.now()
  await screen(page).filter({ hasText: 'flood-end' }).waitFor({ timeout: 100_000 })
  console.log(`the flood took ${Date.now() - began} ms more`)
  expect(slowest).toBeLessThan(1000) // a page that waits for the flood stands still for many seconds
  expect(offences).toEqual([])
}, 120_000)
