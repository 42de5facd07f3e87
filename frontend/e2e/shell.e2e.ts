import { execFileSync } from 'node:child_process'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { violations } from './axe'
import { answer, openPage, prompt, shots, tabTo, untilFocused, untilRest } from './browser'
import { startHost } from './host'
import { modelID, startModel, type Round } from './model'
import { useStage } from './stage'

const stage = useStage()

/** The rules that the page breaks, light and dark, with the elements. */
async function broken(page: Page): Promise<string[]> {
  const found: string[] = []
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    found.push(...(await violations(page)))
  }
  return found
}

async function start(rounds: Round[]) {
  const model = (stage.model = await startModel(rounds))
  const host = (stage.host = await startHost({
    files: { 'a.txt': 'one\n' },
    models: [
      {
        id: modelID,
        provider: 'compat',
        display_name: 'Scripted',
        price: { input: 3, output: 15 },
      },
    ],
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  execFileSync('git', ['init', '-q', '-b', 'login-form'], { cwd: host.folder })
  const opened = await openPage(stage.browser, host.url)
  await opened.page.getByRole('textbox', { name: 'Message', exact: true }).waitFor()
  return { host, ...opened }
}

// By keyboard only, except the answer.
test('the sessions are an inbox: what needs the user, what runs, then days', async () => {
  let end = () => {}
  const rest = new Promise<void>((resolve) => (end = resolve))
  const { page, offences } = await start([
    { calls: [{ name: 'Write', input: { file_path: 'b.txt', content: 'x\ny\n' } }] },
    { text: 'Written.' },
    { reasoning: 'Hm.', rest, text: 'Counted.' },
    { calls: [{ name: 'Bash', input: { command: 'rm -rf dist' } }] },
  ])
  const sidebar = page.getByRole('navigation', { name: 'Sessions' })
  const group = (name: string) => sidebar.getByRole('list', { name, exact: true })
  const next = async (text: string) => {
    await page.keyboard.press('Alt+n')
    await prompt(page, text)
  }
  await prompt(page, 'Write it down')
  await group('Needs you').getByText('Write it down').waitFor()
  await answer(page.getByRole('region', { name: 'Needs you: Write' }))
  await page.getByText('Written.').waitFor()
  await untilRest(page)
  await next('Count to ten')
  await group('Running').getByText('Count to ten').waitFor()
  await next('Remove the build')
  await group('Needs you').getByText('Remove the build').waitFor()
  await expect
    .poll(() => sidebar.getByRole('heading').allTextContents())
    .toEqual(['Needs you', 'Running', 'Today'])

  // The rows are walked with the arrow keys, and say what was done.
  await page.getByRole('button', { name: 'Allow', exact: true }).waitFor()
  await page.keyboard.press('Alt+s')
  await untilFocused(sidebar.getByRole('searchbox'))
  await tabTo(group('Needs you').locator('[data-session]'))
  await page.keyboard.press('ArrowDown')
  await untilFocused(group('Running').locator('[data-session]'))
  await page.keyboard.press('ArrowDown')
  const done = group('Today').locator('[data-session]')
  await expect.poll(() => done.textContent()).toMatch(/\+2 −0 lines · on login-form/)
  await page.locator('.ui-tooltip').getByText('+2 −0 lines · on login-form').waitFor()
  await shots(page, 'shell-inbox')
  expect(await broken(page)).toEqual([])

  // The focus follows a row into another group.
  await page.keyboard.press('ArrowUp')
  end()
  const counted = group('Today').locator('[data-session]', { hasText: 'Count to ten' })
  await counted.waitFor()
  await untilFocused(counted)
  await page.keyboard.press('Enter')
  await page.getByText('Counted.').waitFor()
  expect(offences).toEqual([])
})

type Called = { title: string; body?: string; onclick: () => void }

test('a user who looks elsewhere is called by the title and by notices, which lead to the session', async () => {
  const { page, offences } = await start([
    { text: 'Nothing to do.' },
    { calls: [{ name: 'Bash', input: { command: 'rm -rf dist' } }] },
    { text: 'Removed.' },
  ])
  // A desktop that has not been asked yet, behind another window.
  await page.evaluate(() => {
    const called: Called[] = []
    class Fake {
      static permission = 'default'
      static requestPermission = async () => (Fake.permission = 'granted')
      onclick = () => {}
      close = () => {}
      constructor(
        readonly title: string,
        readonly options: { body: string },
      ) {
        called.push({ title, body: options.body, onclick: () => this.onclick() })
      }
    }
    Object.assign(window, { Notification: Fake, called })
    document.hasFocus = () => false
  })
  const called = () => page.evaluate(() => (window as unknown as { called: Called[] }).called)
  await expect.poll(() => page.title()).toBe('shop · Atelier')

  // Only a press asks the browser.
  await page.keyboard.press('Control+,')
  const settings = page.getByRole('dialog', { name: 'Settings' })
  await settings.getByRole('tab', { name: 'Appearance' }).click()
  const section = settings.getByRole('region', { name: 'Notifications' })
  expect(await broken(page)).toEqual([])
  await shots(page, 'shell-notices')
  await section.getByRole('button', { name: 'Ask the browser…' }).press('Enter')
  await section.getByText('has not been asked yet').waitFor({ state: 'detached' })
  await untilFocused(section.getByRole('switch').first())
  await section.getByRole('switch', { name: 'When a session is done' }).press('Space')
  await page.keyboard.press('Escape')
  await settings.waitFor({ state: 'detached' })

  await prompt(page, 'First')
  await page.getByText('Nothing to do.').waitFor()
  await untilRest(page)
  await page.keyboard.press('Alt+n')
  await prompt(page, '<b>Remove</b> the build')
  await expect.poll(() => page.title()).toBe('▲ Needs you · <b>Remove</b> the build')
  await page.getByRole('navigation', { name: 'Sessions' }).getByText('First').click()
  await expect.poll(async () => (await called()).length).toBe(1)
  expect(await called()).toMatchObject([
    { title: 'Needs you · shop', body: '<b>Remove</b> the build' },
  ])
  await page.evaluate(() => (window as unknown as { called: Called[] }).called[0]!.onclick())
  await page.locator('[aria-current]', { hasText: 'Remove' }).waitFor()
  await answer(page.getByRole('region', { name: 'Needs you: Bash' }))
  await page.getByText('Removed.').waitFor()
  await expect.poll(() => page.title()).toBe('shop · Atelier')
  expect(offences).toEqual([])
})

test('high contrast is chosen with the keyboard, remembered, and readable', async () => {
  const { page, offences } = await start([])
  await page.keyboard.press('Control+,')
  const settings = page.getByRole('dialog', { name: 'Settings' })
  await settings.getByRole('tab', { name: 'Appearance' }).press('Enter')
  await settings.getByRole('switch', { name: 'High contrast' }).press('Space')
  const contrast = () => page.evaluate(() => document.documentElement.dataset.contrast)
  await expect.poll(contrast).toBe('high')
  expect(await broken(page)).toEqual([])
  await shots(page, 'shell-contrast')
  await page.reload()
  await page.getByRole('textbox', { name: 'Message', exact: true }).waitFor()
  await expect.poll(contrast).toBe('high')
  expect(await broken(page)).toEqual([])
  expect(offences).toEqual([])
})
