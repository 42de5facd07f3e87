import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { violations } from './axe'
import {
  acceptEdits,
  answer,
  openPage,
  openPanel,
  panelOf,
  prompt,
  shots,
  untilRest,
} from './browser'
import { startHost } from './host'
import { startModel } from './model'
import { useStage } from './stage'

const stage = useStage()

// OAS-323, K-19: what the agent is asked to do later is listed, runs as a turn of its own, and its time is kept.
test('a task is scheduled, run from the panel Schedules, and deleted', async () => {
  const model = (stage.model = await startModel([
    {
      calls: [
        {
          name: 'cron_create',
          input: { cron: '0 9 * * 1-5', prompt: 'Look at the build.', name: 'Morning build' },
        },
      ],
    },
    { text: 'I look every morning.' },
    { text: 'The build is fine.' },
  ]))
  const host = (stage.host = await startHost({
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  const { page, offences } = await openPage(stage.browser, host.url)
  await prompt(page, 'Look at the build every morning')
  await answer(page.getByRole('region', { name: /CronCreate/ }))
  await page.getByText('I look every morning.').waitFor()
  await untilRest(page)
  const line = page.getByRole('button', { name: /CronCreate/ }).first()
  if ((await line.getAttribute('aria-expanded')) !== 'true') await line.click()
  await page.getByText('0 9 * * 1-5').first().waitFor()

  const panel = await openPanel(page, 'Schedules')
  await panel.getByText('Morning build', { exact: true }).waitFor()
  await panel.getByText(/next .*9:00/).waitFor()
  await panel.getByRole('button', { name: 'Run Morning build now' }).click()
  await page.getByText('The build is fine.').waitFor()
  await panel.getByText('done', { exact: true }).waitFor()
  await shots(page, 'schedules')
  expect(await violations(page)).toEqual([])
  expect(model.heard.at(-1)).toContain('Scheduled: Morning build')
  await panel.getByRole('button', { name: 'Delete Morning build' }).click()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await panel.getByText('0 of at most 50').waitFor()
  expect(offences).toEqual([])
})

// OAS-331, OAS-332: the session moves into a worktree and back, and the page says where it is.
test('a session works in a worktree of its own', async () => {
  const model = (stage.model = await startModel([
    {
      calls: [
        { name: 'enter_worktree', input: { name: 'apart' } },
        { name: 'write_file', input: { file_path: 'new.txt', content: 'one\n' } },
      ],
    },
    { text: 'I work apart.' },
    { calls: [{ name: 'exit_worktree', input: {} }] },
    { text: 'I am back.' },
  ]))
  const host = (stage.host = await startHost({
    files: { 'list.txt': 'one\n' },
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.com', ...args], {
      cwd: host.folder,
      stdio: 'pipe',
    })
  git('init', '-q', '-b', 'main')
  git('add', '.')
  git('commit', '-qm', 'Begin')
  const { page, offences } = await openPage(stage.browser, host.url)
  await acceptEdits(page)
  await prompt(page, 'Work apart')
  await page.getByText('I work apart.').waitFor()
  await untilRest(page)
  expect(existsSync(join(host.folder, '.worktrees/apart/new.txt'))).toBe(true)
  expect(existsSync(join(host.folder, 'new.txt'))).toBe(false)
  const changes = panelOf(page, 'Changes') // it is open from the start
  await changes.getByText('new.txt').first().waitFor()
  const branches = await openPanel(page, 'Branches')
  await branches.getByText('.worktrees/apart').first().waitFor()
  await branches
    .getByText(/not committed/)
    .first()
    .waitFor()
  await shots(page, 'worktree')
  expect(await violations(page)).toEqual([])
  await prompt(page, 'Come back')
  await page.getByText('I am back.').waitFor()
  expect(existsSync(join(host.folder, '.worktrees/apart/new.txt'))).toBe(true)
  expect(offences).toEqual([])
})
