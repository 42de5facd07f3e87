import { execFileSync } from 'node:child_process'
import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { violations } from './axe'
import { openPage, prompt, shots } from './browser'
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

// By keyboard only.
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
  await page.getByRole('button', { name: 'Allow', exact: true }).press('Enter')
  await page.getByText('Written.').waitFor()
  await next('Count to ten')
  await group('Running').getByText('Count to ten').waitFor()
  await next('Remove the build')
  await group('Needs you').getByText('Remove the build').waitFor()
  expect(await sidebar.getByRole('heading').allTextContents()).toEqual([
    'Needs you',
    'Running',
    'Today',
  ])

  // The rows are walked with the arrow keys, and say what was done.
  const focused = (row: Locator) =>
    expect.poll(() => row.evaluate((it) => it === document.activeElement)).toBe(true)
  await page.getByRole('button', { name: 'Allow', exact: true }).waitFor()
  await page.keyboard.press('Control+k')
  await focused(sidebar.getByRole('searchbox'))
  await page.keyboard.press('Tab')
  await focused(group('Needs you').locator('[data-session]'))
  await page.keyboard.press('ArrowDown')
  await focused(group('Running').locator('[data-session]'))
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
  await focused(counted)
  await page.keyboard.press('Enter')
  await page.getByText('Counted.').waitFor()
  expect(offences).toEqual([])
})
