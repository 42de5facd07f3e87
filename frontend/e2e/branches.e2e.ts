import { execFileSync } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { violations } from './axe'
import {
  acceptEdits,
  openPage,
  openPanelByKey,
  panelOf,
  pressIn,
  prompt,
  shots,
  untilFocused,
  untilRest,
} from './browser'
import { startHost } from './host'
import { startModel } from './model'
import { useStage } from './stage'

const stage = useStage()

const git = (folder: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.com', ...args], {
    cwd: folder,
    stdio: 'pipe',
  })

const lines = (changed: Record<number, string> = {}) =>
  Array.from({ length: 24 }, (_, at) => changed[at] ?? `line ${at}`).join('\n') + '\n'

const write = (changed: Record<number, string>) => ({
  calls: [
    { name: 'Read', input: { file_path: 'list.txt' } },
    { name: 'Write', input: { file_path: 'list.txt', content: lines(changed) } },
  ],
})

test('a session is forked into a worktree with another model, compared, and a hunk is taken, by keyboard only', async () => {
  const model = (stage.model = await startModel(
    [write({ 0: 'the first way' }), { text: 'Done one.' }],
    {
      other: [write({ 10: 'the second way', 23: 'its end' }), { text: 'Done two.' }],
    },
  ))
  const host = (stage.host = await startHost({
    files: { 'list.txt': lines() },
    env: { COMPAT_BASE_URL: model.url, COMPAT_API_KEY: 'test-key' },
  }))
  git(host.folder, 'init', '-q', '-b', 'main')
  git(host.folder, 'add', '.')
  git(host.folder, 'commit', '-qm', 'Begin')
  const { page, offences } = await openPage(stage.browser, host.url)
  const { keyboard } = page
  const message = page.getByRole('textbox', { name: 'Message', exact: true })
  await acceptEdits(page)
  await prompt(page, 'Write the list')
  await page.getByText('Done one.').waitFor()
  await untilRest(page)

  // Forking at the prompt opens a dialog.
  const log = page.getByRole('log').first()
  await message.press('Alt+ArrowUp')
  await untilFocused(log.getByLabel(/^Answer: Done one/))
  await keyboard.press('Home')
  await untilFocused(log.getByLabel(/^Your message: Write the list/))
  await keyboard.press('f')
  const dialog = page.getByRole('dialog', { name: 'Fork from here' })
  await dialog.getByText('The fork ends before your message').waitFor()
  await untilFocused(dialog.getByRole('textbox'))
  await keyboard.type('second try')
  await dialog.getByRole('radio', { name: 'A worktree of its own' }).press('Space')
  await pressIn(dialog, dialog.getByRole('button', { name: 'Choose another model' }))
  await dialog.getByRole('combobox').fill('other')
  await dialog.getByRole('option', { name: /“other”/ }).waitFor()
  await keyboard.press('Enter')
  await dialog.locator('.model').getByText('other', { exact: true }).waitFor()
  expect(await violations(page)).toEqual([])
  await shots(page, 'branches-fork')
  await pressIn(dialog, dialog.getByRole('button', { name: 'Fork', exact: true }))
  await dialog.waitFor({ state: 'hidden' })

  // It has the prompt in its field, works in its worktree, and asks the other model.
  await page.getByText('Works in the worktree .worktrees/second-try-').waitFor()
  await expect.poll(() => message.inputValue()).toBe('Write the list')
  await message.press('Enter')
  await page.getByText('Done two.').waitFor()
  await untilRest(page)
  expect(model.asked.at(-1)).toBe('other')
  const file = join(host.folder, 'list.txt')
  expect(await readFile(file, 'utf8')).toBe(lines({ 0: 'the first way' }))
  const [tree] = await readdir(join(host.folder, '.worktrees'))
  const theirs = join(host.folder, '.worktrees', tree!, 'list.txt')
  expect(await readFile(theirs, 'utf8')).toBe(lines({ 10: 'the second way', 23: 'its end' }))

  // The tree has both. The origin is opened, and the fork compared with it.
  await openPanelByKey(page, 'Branches')
  const panel = panelOf(page, 'Branches')
  await panel.getByText('second try').waitFor()
  const branches = panel.getByRole('list').first()
  await expect.poll(() => branches.getByRole('listitem').count()).toBe(2)
  await shots(page, 'branches-tree')
  await pressIn(panel, panel.getByRole('button', { name: /^Label/ }).first())
  await untilFocused(page.getByRole('dialog').getByRole('textbox'))
  await keyboard.type('first try')
  await keyboard.press('Enter')
  await panel.getByText('first try').waitFor()
  await pressIn(panel, panel.getByRole('button', { name: 'first try Write the list' }))
  await page.getByText('Done one.').waitFor()
  await pressIn(panel, panel.getByRole('button', { name: /^Compare “/ }))
  await panel.getByRole('columnheader', { name: /Compared branch/ }).waitFor()
  const back = panel.getByRole('button', { name: 'All branches' })
  await untilFocused(back)
  await pressIn(panel, panel.getByRole('button', { name: /list\.txt/ }))
  await panel.getByText('its end').waitFor()
  expect(await violations(page)).toEqual([])
  await shots(page, 'branches-compare')

  // One hunk comes here; the rest of both stays as it is.
  await pressIn(panel, panel.getByRole('button', { name: 'Take', exact: true }).last())
  await panel.getByText('Taken: list.txt').waitFor()
  expect(await readFile(file, 'utf8')).toBe(lines({ 0: 'the first way', 23: 'its end' }))
  await untilFocused(panel.getByRole('button', { name: /list\.txt/ }))
  await pressIn(panel, back)
  await untilFocused(panel.getByRole('button', { name: 'Fork this session' }))
  const sessions = page.getByRole('navigation', { name: 'Sessions' })
  await sessions.getByText('second try · Write the list').waitFor()
  expect(offences).toEqual([])
})
